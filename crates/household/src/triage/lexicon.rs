//! The phrases that triage looks for, in English, German and French, folded; `*` stands for any ending.

/// Something cannot wait.
pub(super) const URGENT: &str = "urgent, urgently, urgency, asap, a s a p, as soon as possible, as soon as you can, immediately, immediate \
    attention, immediate action, immediate response, right away, time sensitive, time critical, at once, without \
    delay, top priority, high priority, final notice, final reminder, last reminder, second reminder, overdue, \
    straight away, need this now, right now, dringend*, dringlich*, eilig*, eilt, sofort, sofortig*, umgehend*, \
    unverzuglich*, so schnell wie moglich, so bald wie moglich, schnellstmoglich*, baldmoglichst, hochste \
    prioritat, notfall*, letzte mahnung, zweite mahnung, uberfallig*, auf der stelle, urgente, urgentes, urgence, \
    des que possible, au plus vite, le plus vite possible, immediatement, sans delai, tout de suite, sans attendre, \
    dernier rappel, tres pressant, prioritaire, en souffrance, le plus rapidement possible, au plus tot, look now, \
    call now, come now, now please, jetzt gleich, drangt, zeitkritisch, brennt, es brennt, pressant, sur le champ, \
    this minute, every minute counts, cannot wait, can t wait any longer, kann nicht warten, ne peut pas attendre, \
    an emergency, family emergency, medical emergency, emergency call, is critical, business critical, critical \
    issue, critical bug, critical problem, critical error, kritischer fehler, ist kritisch, first thing, noch \
    heute, heute noch, des ce matin, dans la matinee";

/// Something is broken at this moment.
pub(super) const BROKEN: &str = "outage, is down, are down, went down, has gone down, production down, production incident, sev1, sev 1, p1, \
    server down, site down, website down, data loss, data breach, security breach, security incident, cannot log \
    in, can t log in, locked out, stopped working, keeps crashing, blocked on you, blocking the release, blocking \
    us, blocked until, customers are affected, customers cannot, customers can t, ausfall, ausgefallen, steht \
    still, lauft nicht mehr, geht nicht mehr, funktioniert nicht mehr, ist down, storung, datenleck, blockiert uns, \
    wir sind blockiert, stromausfall, wasserschaden, water leak, pipe burst, panne, en panne, hors service, ne \
    fonctionne plus, ne marche plus, flight cancelled, flight has been cancelled, flight was cancelled, flug wurde \
    gestrichen, flug gestrichen, flug wurde annulliert, vol annule, vol a ete annule, sommes bloques, suis bloque, \
    in hospital, in the hospital, im krankenhaus, ins krankenhaus, a l hopital, had an accident, hatte einen \
    unfall, eu un accident, fuite d eau, go down this, going down, is failing, are failing, been failing, not \
    responding, unreachable, nicht erreichbar, injoignable, inaccessible, broke down, leaking, notbremse, brennt, \
    rohrbruch, einbruch, stolen, gestohlen, has burst, wurde gestohlen, ete vole, ete volee, disk failure, hardware \
    failure, power failure, degraded, burst, leak, flooded, flooding, water is, on fire, smoke, smell of gas, gas \
    leak, broken into, break in, injured, ambulance, fever, collapsed, rohr gebrochen, rohr geplatzt, uberflutet, \
    uberschwemm*, gasgeruch, eingebrochen, verletzt, rettungswagen, notaufnahme, fieber, fuite, inonde*, \
    inondation, incendie, odeur de gaz, cambriol*, blesse*, pompiers, fievre, no power, no electricity, power is \
    out, no heating, heating is cold, no water, kein strom, kein wasser, keine heizung, heizung ist kalt, plus de \
    courant, plus d electricite, plus d eau, plus de chauffage, rien ne marche, emergency room, aux urgences";

/// A person is waiting right now.
pub(super) const PRESENT: &str = "is waiting, are waiting, standing outside, at the door, at the gate, in front of the door, on the line, on the \
    phone, about to, just called, has just, have just, is here, are here, nobody opens, wartet, warten schon, vor \
    der tur, vorm tor, am telefon, am apparat, ist schon da, sind schon da, steht hier, stehen hier, niemand macht \
    auf, nous attend, nous attendent, m attend, t attend, vous attend, devant la porte, a la porte, au telephone, \
    en ligne, vient d appeler, vient d arriver, viennent d arriver, est deja la, sont deja la, personne n ouvre";

/// Something is not there that the reader should have given.
pub(super) const MISSING: &str = "still missing, is missing, are missing, missing your, without your, still need your, not received your, fehlt, \
    fehlen, ohne deine, ohne deinen, ohne ihre, ohne ihren, il manque, manque, manquent, sans ton, sans ta, sans \
    tes, sans votre, sans vos";

/// A person loses something where nothing is done.
pub(super) const OTHERWISE: &str = "otherwise, or else, if not, or we lose, we lose, we will lose, will be lost, is lost, are lost, too late, \
    sonst, ansonsten, andernfalls, wenn nicht, falls nicht, verlieren, verloren, zu spat, sinon, sans quoi, faute \
    de quoi, dans le cas contraire, trop tard, perdons, perdu, perdue";

/// It can wait, or it is over.
pub(super) const CALM: &str = "not urgent, isn t urgent, is not urgent, nothing urgent, non urgent, no urgency, not time sensitive, not time \
    critical, no rush, no hurry, not in a hurry, take your time, whenever you, when you have a moment, when you have \
    a minute, when you have time, when you get a chance, when you get a minute, at your convenience, at your \
    leisure, low priority, not critical, nothing critical, no need to reply, no reply needed, no action needed, no \
    action required, no action is required, no action is needed, nothing to do, no immediate action, not \
    immediately, isn t critical, don t need to do anything, do not need to do anything, no response needed, nicht \
    dringend, nicht eilig, eilt nicht, keine eile, keine dringlichkeit, nichts dringendes, hat zeit, wenn du zeit \
    hast, wenn sie zeit haben, bei gelegenheit, kein stress, wenn du magst, if you like, si tu veux, \
    lass dir zeit, lassen sie sich zeit, in ruhe, kein \
    handlungsbedarf, keine aktion erforderlich, nichts zu tun, nicht sofort, irgendwann, keine antwort notig, pas \
    urgent, pas urgente, rien d urgent, aucune urgence, pas presse, prends ton temps, prenez votre temps, quand vous \
    aurez, quand tu auras, quand vous pourrez, quand tu pourras, sans urgence, aucune action, rien a faire, a l \
    occasion, mussen nichts tun, brauchen nichts zu tun, at some point, in the next few weeks, in den nachsten \
    wochen, keinen zeitdruck, kein zeitdruck, ohne zeitdruck, no pressure, no time pressure, pas pressee, sans \
    pression, no deadline, keine frist";

/// Something else would be urgent.
pub(super) const SUPPOSED: &str = "for urgent, urgent matters, urgent cases, urgent inquiries, urgent requests, in urgent, if urgent, if it s urgent, \
    if it is urgent, in case of emergency, in an emergency, in dringenden, dringenden fallen, im notfall, in \
    notfallen, en cas d urgence, pour toute urgence, si c est urgent";

/// What was pressing is settled.
pub(super) const SETTLED: &str = "resolved, has been fixed, is fixed, all good now, back up, back online, no longer needed, no longer necessary, \
    already done, already sorted, sorted now, taken care of, has been restored, is restored, problem solved, issue \
    is closed, post mortem, postmortem, lessons learned, false alarm, please ignore my, disregard my, never mind, \
    nevermind, behoben, erledigt, gelost, hat sich geklart, lauft wieder, geht wieder, wieder online, fehlalarm, \
    nicht mehr notig, entwarnung, wieder offen, wieder geoffnet, open again, reopened, rouvert*, resolu*, regle, \
    reglee, c est bon, retabli*, fausse alerte, plus necessaire, plus besoin, c est fait";

/// A day took the place of another.
pub(super) const MOVED: &str = "moved, postponed, extended, pushed back, rescheduled, shifted, verschoben, verlangert, verlegt, reporte, reportee, \
    repousse, repoussee, prolonge, prolongee, decale, decalee";

/// Something is wanted.
pub(super) const REQUEST: &str = "please, pls, plz, kindly, could you, can you, would you, will you, need you to, i need, we need, needs your, \
    need your, need to know, you need to, you must, you have to, you will need to, must be, make sure, let me know, \
    let us know, send me, send us, waiting for your, waiting on your, awaiting your, your approval, your signature, \
    your signoff, your sign off, your decision, your feedback, your input, action required, response required, \
    reply required, requires your, would appreciate, would be grateful, asking you to, we ask you, are you able to, \
    do you mind, requested your review, assigned to you, assigned you, is due, are due, due by, due on, due today, \
    due tomorrow, call me, get back to me, expected to, has to be, have to be, needs to be, need to be, remember \
    to, don t forget, we are waiting, i m waiting, i am waiting, bitte, kannst du, konnen sie, konntest du, konnten \
    sie, konnt ihr, konntet ihr, wurdest du, wurden sie, brauche, brauchen, benotige, benotigen, benotigt, wir \
    bitten, ich bitte, du musst, sie mussen, mussen wir, muss bis, mussen bis, muss heute, gib mir bescheid, gib \
    bescheid, geben sie, schick mir, schicken sie, ruf mich, rufen sie, warte auf, warten auf, fallig, ihre \
    ruckmeldung, deine ruckmeldung, ihre freigabe, deine freigabe, ihre unterschrift, deine unterschrift, ihre \
    zustimmung, denk daran, vergiss nicht, denken sie daran, wir erwarten, merci de, veuillez, pouvez vous, \
    pourriez vous, vous pouvez, tu peux, peux tu, pourrais tu, peut on, j ai besoin, nous avons besoin, on a \
    besoin, il faut, il nous faut, il me faut, priere de, s il vous plait, s il te plait, svp, stp, dites moi, dis \
    moi, tenez moi, tiens moi, envoyez moi, envoie moi, votre accord, votre signature, votre validation, ton \
    accord, ta validation, votre reponse, ta reponse, vous devez, tu dois, doit etre, doivent etre, rappelle moi, \
    rappelez moi, j attends votre, j attends vos, j attends ton, j attends ta, j attends tes, nous attendons votre, \
    nous attendons vos, n oublie pas, n oubliez pas, have to have, must have, is missing, are missing, still \
    missing, fehlt noch, fehlen noch, fehlt uns, fehlen uns, il manque, il nous manque, if i don t, if we don t, if \
    nobody, unless you, unless we, si je ne recois, si nous ne recevons, wenn ich bis, wenn wir bis, rebook, can i \
    get, may i have, could i have, could we have, can we have, any chance you, want a call, wants a call, want you \
    to, wants you to, expect you to, expects you to, expecting you, waiting for you, wartet auf, vous attend, \
    mahnung, final notice, final reminder, last reminder, payment reminder, zahlungserinnerung, dernier rappel, \
    mise en demeure, appelle moi, appelez moi, schicke mir, sende mir, senden sie, sag mir, sagen sie mir, sag \
    bescheid, melde dich, melden sie sich, meld dich, previens moi, prevenez moi, tiens moi au courant, tenez moi \
    au courant";

/// Polite words that want nothing.
pub(super) const POLITE: &str = "please find, please note, please see attached, please do not reply, please don t reply, don t hesitate, do not \
    hesitate, feel free, please ignore this, if you have any questions, if you have questions, any questions please, \
    for any questions, if you no longer, if this wasn t you, if you did not, if you didn t, if you need anything, if \
    you need any, if anything is unclear, please consider the environment, please disregard, happy to help, bitte \
    beachten, bitte nicht antworten, bitte antworten sie nicht, bitte finden, zogern sie nicht, bei fragen, bei \
    ruckfragen, falls du fragen, falls sie fragen, wenn sie fragen, stehe ich gerne, stehen wir gerne, anbei, im \
    anhang, veuillez trouver, veuillez agreer, je vous prie d agreer, n hesitez pas, n hesite pas, merci de ne pas \
    repondre, ne pas repondre, si vous avez des questions, pour toute question, veuillez noter, falls sie \
    verhindert, wenn sie verhindert, if you cannot attend, if you can t attend, if you can t make it, if you cannot \
    make it, if you need to reschedule, if you need to cancel, si vous ne pouvez pas, en cas d empechement, mussen \
    nichts, nichts zu tun, nothing to do, no action, need to do anything, aucune action, nothing you need to do";

/// Verbs with which sentences ask when they begin with them.
pub(super) const ORDERS: &str = "approve, answer, arrange, book, bring, call, cancel, check, complete, confirm, contact, deliver, edit, fill, \
    finish, finalize, fix, forward, give, join, look, make, move, order, pay, pick, prepare, print, provide, read, \
    rebook, register, renew, reply, respond, return, review, rsvp, schedule, send, share, sign, submit, tell, \
    update, upload, verify, write, schick, sende, ruf, melde, komm, bringe, prufe, unterschreib, unterschreibe, \
    bestatige, sag, gib, hol, nimm, schau, appelle, appelez, envoie, envoyez, signe, signez, viens, venez, apporte, \
    apportez, confirme, confirmez, valide, validez, reponds, repondez, verifie, verifiez, regarde, regardez, donne, \
    donnez";

/// A meeting is being arranged.
pub(super) const MEETING: &str = "meet, meeting, are you free, are you available, your availability, availability for, schedule a, reschedule, \
    move our, set up a call, set up a time, jump on a call, hop on a call, quick call, a call with, for a call, a \
    call to discuss, catch up, lunch, coffee, calendar invite, time slot, time slots, find a time, find a slot, \
    pick a time, video call, zoom, teams call, sync up, one on one, 1 1, interview, would suit you, works for you, \
    work for you, dinner, termin, terminvorschlag, treffen, besprechung, verschieben, hast du zeit, haben sie zeit, \
    passt dir, passt ihnen, passt es, telefonat, telefonieren, mittagessen, kaffee, videocall, rendez vous, \
    reunion, disponible*, disponibilite*, se voir, nous voir, se rencontrer, un appel, dejeuner, cafe, visio, \
    creneau*, suis libre, etes vous libre, es tu libre, de vive voix, te convient, vous convient, te conviendrait, \
    vous conviendrait, termine, appointment";

/// Subjects that announce a meeting, whatever the mail asks.
pub(super) const ANNOUNCED: &str = "invitation, appointment, meeting request, terminvorschlag, terminerinnerung, terminbestatigung, terminanfrage, \
    einladung, rendez vous, demande de reunion, proposition de rendez vous";

/// What programs put before the subject of an answer.
pub(super) const ANSWERS: &str = "re, aw, sv, antw, ref, rep";

/// Addresses that belong to a program or an office, not to a person.
pub(super) const OFFICES: &str = "news, newsletter, noreply, no reply, donotreply, notifications, notification, notify, updates, update, info, hello, \
    hallo, deals, offers, marketing, weekly, daily, digest, team, support, service, builds, ci, alerts, mailer, bot, \
    promo, shop, store";

/// Another person will do something, or already does.
pub(super) const WAITING: &str = "get back to you, come back to you, let you know, i ll send, i will send, we will send, we ll send, working on \
    it, working on this, looking into, we received your, we have received your, has been received, your request has \
    been, ticket has been, case has been, your application, out of office, out of the office, on vacation, on \
    leave, will be back, being processed, is in progress, under review, you will hear from, expect to hear, will \
    follow up, i ll follow up, will be in touch, be in touch, still waiting for, still waiting on, keep you posted, \
    keep you updated, will reply, will respond, will update you, once i hear, once we have, waiting to hear, \
    business days, i ll have it, you ll have it, i ll get it, abwesend, abwesenheit*, nicht im buro, im urlaub, ich \
    melde mich, wir melden uns, melde mich, in bearbeitung, wird bearbeitet, bearbeiten ihre, ist bei uns \
    eingegangen, eingegangen, ich schicke, schicke ich, ich kummere mich, wir kummern uns, wird gepruft, wir \
    prufen, ich prufe, halte dich auf dem laufenden, halten sie auf dem laufenden, bekommst du, bekommen sie, \
    werktage*, sobald ich, je reviens vers, nous revenons vers, reviendrai vers, nous reviendrons, absent, absente, \
    en conge, en conges, en cours, bien recu, avons recu, je m en occupe, nous nous en occupons, je vous tiens, je \
    te tiens, vous tiendrai, nous vous tiendrons, jours ouvres, je t envoie, je vous envoie, je vous enverrai, je t \
    enverrai, des que j ai, is reviewing, are reviewing, will forward, expect an answer, expect to have, will be \
    ready, thanks for your patience, thank you for your patience, hope to have, parental leave, maternity leave, \
    automatic reply, abwesenheitsnotiz, elternzeit, reponse automatique, i m on it, wird geliefert, kommt spater, \
    ich gebe dir bescheid, ich gebe ihnen bescheid, gebe ich dir bescheid, gebe ich ihnen bescheid, je vous donne \
    des nouvelles, je te donne des nouvelles, geben ihnen, geben dir, gebe dir, gebe ihnen, besprechen es intern, \
    ping you, when it s done, once it s done, sobald es";

/// Many got it and none was meant.
pub(super) const PROMOTION: &str = "unsubscribe, newsletter, view in browser, view this email in your browser, special offer, limited time, \
    discount, off everything, sale, free shipping, promo code, coupon, webinar, subscribe, this week in, weekly \
    digest, daily digest, digest, top stories, read more, shop now, buy now, order now, last chance, don t miss, \
    exclusive, free trial, book a demo, increase your revenue, grow your business, upgrade now, manage preferences, \
    manage your preferences, you are receiving this, you re receiving this, abmelden, abbestellen, rabatt, angebot, \
    angebote, gutschein, jetzt sichern, jetzt kaufen, nur heute, im browser ansehen, versandkostenfrei, \
    wochenruckblick, se desabonner, desabonner, desinscri*, offre speciale, promo, promotion, soldes, code promo, \
    livraison gratuite, profitez, derniere chance, voir dans le navigateur, lettre d information";

/// It is about something that the owner has bought, booked or been billed for.
pub(super) const TRANSACTION: &str = "your order, order confirmation, receipt, your booking, booking confirmation, your invoice, payment received, has \
    shipped, was shipped, has been shipped, your statement, your subscription, your ticket, itinerary, sign in, \
    login, password was changed, ihre bestellung, bestellbestatigung, quittung, ihre rechnung, zahlungseingang, \
    versandt, ihre buchung, kontoauszug, votre commande, recu de paiement, votre facture, votre reservation, \
    expedie*, votre releve, your payment, payment of, ihre zahlung, votre paiement, delivered, zugestellt, tracking \
    number, sendungsnummer, auftragsbestatigung";

/// It only tells.
pub(super) const TELLS: &str = "fyi, for your information, for your records, just to let you know, just letting you know, just a heads up, heads \
    up, for reference, no action, as an update, quick update, status update, zur info, zur information, zur \
    kenntnis, nur zur, kurze info, pour info, pour information, a titre d information, pour votre information";

/// Secrets are wanted.
pub(super) const SECRETS: &str = "password, passcode, verify your account, verify your identity, confirm your account, confirm your identity, \
    update your account, login details, log in to, sign in to, credentials, account will be, account has been, \
    account is suspended, account suspended, account was suspended, unusual activity, unusual sign, suspicious \
    activity, security alert, social security, pin code, your pin, seed phrase, wallet, credit card, card details, \
    billing information, mailbox is full, mailbox full, mailbox quota, quota exceeded, passwort, kennwort, \
    zugangsdaten, konto wird, konto wurde, ihr konto, konto gesperrt, identitat bestatigen, daten bestatigen, \
    kreditkarte*, tan, postfach ist voll, mot de passe, identifiants, votre compte, compte sera, compte a ete, carte \
    bancaire, coordonnees bancaires, code secret";

/// Money is to be moved.
pub(super) const MONEY: &str = "wire transfer, wire the, bank transfer, transfer the, transfer of, gift card, gift cards, itunes card, google \
    play card, bitcoin, crypto, new bank details, new bank account, bank details, bank account, changed our bank, \
    updated bank, payment details, iban, western union, moneygram, release fee, customs fee, processing fee, small \
    fee, redelivery, refund, uberweis*, bankverbindung, kontoverbindung, geschenkkarte*, gutscheinkarte*, \
    zollgebuhr*, virement, nouveau rib, rib, carte cadeau, cartes cadeaux, frais de douane, frais de livraison, \
    remboursement";

/// Something bad will happen if nothing is done.
pub(super) const THREATS: &str = "will be suspended, has been suspended, will be closed, will be deleted, will be terminated, be deactivated, be \
    locked, been locked, been limited, legal action, avoid suspension, lose access, within 24 hours, within 12 \
    hours, within 48 hours, expires today, final warning, wird gesperrt, gesperrt, wird geloscht, wird deaktiviert, \
    rechtliche schritte, innerhalb von 24 stunden, binnen 24 stunden, sera suspendu, sera ferme, suspendu, sera \
    supprime, sera bloque, sous 24 heures, sous 24h, sous 48 heures, dans les 24 heures, poursuites";

/// Tales that are always told for money.
pub(super) const TALES: &str = "you have won, you ve won, you won, claim the prize, claim your prize, lottery, inheritance, next of kin, \
    unclaimed funds, million dollars, million usd, million euros, nigerian, recorded you, your webcam, i have \
    hacked, i hacked, compromising video, double your, guaranteed returns, sie haben gewonnen, erbschaft, lotterie, \
    millionen euro, ihre webcam, vous avez gagne, heritage, loterie, millions d euros, votre webcam";

/// Gift cards: anyone who knows the number can spend them, so false senders ask for them.
pub(super) const GIFT_CARDS: &str =
    "gift card, gift cards, geschenkkarte*, gutscheinkarte*, carte cadeau, cartes cadeaux";

/// Houses in whose name others like to write.
pub(super) const BRANDS: &str = "paypal, amazon, microsoft, office365, apple, google, netflix, facebook, instagram, linkedin, dhl, fedex, ups, \
    usps, docusign, dropbox, sparkasse, volksbank, commerzbank, deutsche bank, postbank, ing, wells \
    fargo, hsbc, barclays, ameli, laposte, chronopost, impots, coinbase, binance, adobe, ebay, spotify";

/// Where anyone can have an address.
pub(super) const FREEMAIL: &str = "gmail.com, googlemail.com, outlook.com, hotmail.com, live.com, yahoo.com, yahoo.fr, icloud.com, me.com, aol.com, \
    gmx.de, gmx.net, web.de, t-online.de, proton.me, protonmail.com, mail.com, posteo.de, orange.fr, free.fr, \
    laposte.net, wanadoo.fr, yandex.com, mail.ru";
