//! Words that mean the same in the languages of a household's notes, for when the one that was typed finds too little.
//!
//! Deliberately small: what a reader would expect a search to know. Folded, one set a line.

/// Other words for a word, its simplest plural included.
pub(super) fn others(folded: &str) -> Vec<&'static str> {
    let mut others = Vec::new();
    for set in SETS {
        let has = |word: &str| set.split(' ').any(|known| known == word);
        let singular = ["s", "en", "n", "e", "es"].iter().filter_map(|end| folded.strip_suffix(end));
        if has(folded) || singular.into_iter().any(has) {
            others.extend(set.split(' ').filter(|known| *known != folded));
        }
    }
    others
}

const SETS: &[&str] = &[
    "contract agreement vertrag contrat",
    "rent lease miete mietvertrag loyer bail",
    "landlord vermieter proprietaire hausverwaltung",
    "flat apartment wohnung appartement",
    "invoice bill rechnung facture",
    "tax taxes steuer steuern steuererklarung impots",
    "insurance versicherung assurance",
    "money budget finance finances geld finanzen argent",
    "salary pay wage gehalt lohn salaire",
    "meeting besprechung termin reunion rendezvous",
    "minutes protokoll compte-rendu",
    "appointment termin rendezvous",
    "holiday vacation urlaub ferien vacances",
    "travel trip journey reise voyage",
    "flight flug vol",
    "train zug bahn",
    "hotel accommodation unterkunft hebergement",
    "packing luggage packliste gepack bagages",
    "recipe rezept recette",
    "cooking kochen cuisine",
    "bread brot pain",
    "soup suppe soupe",
    "cake kuchen gateau",
    "garden gardening garten jardin",
    "doctor physician arzt arztin medecin",
    "health gesundheit sante",
    "workout exercise training fitness sport",
    "school schule ecole",
    "child children kids kind kinder enfant enfants",
    "birthday geburtstag anniversaire",
    "gift present geschenk cadeau",
    "book buch livre",
    "reading lesen lecture books",
    "music musik musique",
    "choir chor chorale",
    "car auto wagen voiture",
    "bike bicycle fahrrad velo",
    "house haus maison",
    "key keys schlussel cle",
    "password passwort kennwort",
    "phone telephone telefon handy",
    "address adresse anschrift",
    "plan planning planung",
    "goal goals objective objectives ziel ziele objectif okr okrs",
    "idea idee",
    "project projekt projet",
    "customer client kunde kundin kunden",
    "offer quote proposal angebot devis",
    "deadline due frist faellig echeance",
    "task todo aufgabe tache",
    "checklist liste list",
    "guide howto manual instructions anleitung",
    "setup install installation einrichtung",
    "repair fix reparatur reparation",
    "interview job application bewerbung candidature",
    "course class kurs cours",
    "learning lernen study apprendre",
    "report bericht rapport",
    "review retrospective retro ruckblick bilan",
    "decision entscheidung",
    "energy electricity strom energie electricite",
    "heating heizung chauffage",
    "internet wifi wlan router",
    "backup sicherung sauvegarde",
];
