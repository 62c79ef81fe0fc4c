use std::fs;

use super::*;
use crate::household::Options;

/// A household whose address book holds these files.
fn household(files: &[(&str, &[u8])]) -> (tempfile::TempDir, std::sync::Arc<Household>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let contacts = folder.path().join("contacts");
    fs::create_dir(&contacts).expect("a folder");
    for (name, bytes) in files {
        fs::write(contacts.join(name), bytes).expect("a file");
    }
    let household = Household::open(Options::in_folder(folder.path())).expect("a household");
    (folder, household)
}

const BOOK: &[u8] = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Zo\xc3\xab M\xc3\xbcller\r\nN:M\xc3\xbcller;Zo\xc3\xab;;;\r\n\
    item1.EMAIL;TYPE=INTERNET,WORK:Zoe@Acme.example\r\nORG:Acme \\; Sons;Legal\r\nTEL;TYPE=cell:+49 30 1\r\n\
    NOTE:Likes \r\n tea\\, not coffee\\nNever before 9\r\nEND:VCARD\r\n\
    BEGIN:VCARD\r\nVERSION:4.0\r\nN:Chen;Sarah;;Dr.;\r\nEMAIL;PREF=1;ALTID=\"a:b\":mailto:sarah@globex.example\r\n\
    TEL;VALUE=uri:tel:+1-555\r\nEND:VCARD\r\nBEGIN:VCARD\r\nVERSION:4.0\r\nEND:VCARD\r\n";

const OLD: &[u8] = b"BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg=20Kr=\n=C3=BCger\n\
    EMAIL;INTERNET:joerg@old.example\nEND:VCARD\n";

#[test]
fn cards_of_every_version_are_read() {
    let (_folder, household) = household(&[("book.vcf", BOOK), ("old.VCF", OLD), ("notes.txt", BOOK)]);
    let contacts = household.contacts();
    assert_eq!(household.people(), ["Dr. Sarah Chen", "Jörg Krüger", "Zoë Müller"]);
    assert_eq!(contacts[0].emails, ["sarah@globex.example"]);
    assert_eq!(contacts[0].phone.as_deref(), Some("+1-555"));
    assert_eq!(contacts[2].emails, ["zoe@acme.example"]);
    assert_eq!(contacts[2].organization.as_deref(), Some("Acme ; Sons, Legal"));
    assert_eq!(contacts[2].note.as_deref(), Some("Likes tea, not coffee Never before 9"));
}

#[test]
fn people_are_found_without_case_and_accents_and_by_where_they_work() {
    let (_folder, household) = household(&[("book.vcf", BOOK), ("old.vcf", OLD)]);
    let found = |query: &str| household.contacts_like(query).into_iter().map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(found("muller"), ["Zoë Müller"]);
    assert_eq!(found("ZOË"), ["Zoë Müller"]);
    assert_eq!(found("sara"), ["Dr. Sarah Chen"]);
    assert_eq!(found("acme"), ["Zoë Müller"]);
    assert_eq!(found("@globex"), ["Dr. Sarah Chen"]);
    assert_eq!(found("kruegre"), Vec::<String>::new());
    assert_eq!(found("krugre"), ["Jörg Krüger"]);
    assert_eq!(found("").len(), 3);
}

#[test]
fn an_address_tells_whose_it_is() {
    let (_folder, household) = household(&[("book.vcf", BOOK)]);
    assert_eq!(household.contact_for(" ZOE@acme.example").map(|one| one.name).as_deref(), Some("Zoë Müller"));
    assert_eq!(household.contact_for("nobody@acme.example"), None);
}

#[test]
fn what_is_no_card_is_nobody() {
    let (_folder, household) = household(&[
        ("a.vcf", b"\xff\xfe\0\0"),
        ("b.vcf", b"BEGIN:VCARD\nFN:No end\nEMAIL:a@b.example\n"),
        ("c.vcf", b"FN:No beginning\nEND:VCARD\n:\n;:;\n=\n"),
        ("d.vcf", b"BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE:=ZZ=\n"),
    ]);
    assert_eq!(household.contacts(), []);
    let nowhere = Household::open(Options::default()).expect("a household");
    assert_eq!(nowhere.contacts(), []);
}
