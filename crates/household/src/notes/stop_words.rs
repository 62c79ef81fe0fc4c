//! Words that stand in every sentence, and those that ask for a note at all. Folded, as [`fold`](crate::text::fold) makes them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether a word says nothing of what is looked for.
pub(crate) fn is_one(folded: &str) -> bool {
    static ALL: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.iter().flat_map(|line| line.split(' ')).collect());
    ALL.contains(folded)
}

/// One line for each language, and one more for how people ask.
const WORDS: [&str; 4] = [
    // English
    "a about am an and any are as at be been but by can could did do does doing don for from had has have he her hers him his \
     how i if in into is it its just let like me my no not of off on or our out over she should so some than that the their \
     them then there these they this those to up us was we were what when where which who whom whose why will with would \
     you your",
    // German
    "aber alle als am an auch auf aus bei bin bis da das dass dem den denn der des die dies diese diesem diesen dieser doch du \
     ein eine einem einen einer eines er es fur gibt hab habe haben hat hatte ich ihm ihn ihr im in ist ja kann mein meine meinem \
     meinen meiner mich mir mit nach nicht noch nun nur ob oder ohne sein seine sich sie sind so uber um und uns unser unsere vom \
     von vor wann war waren warum was wegen welche welcher welches wenn wer wie wir wird wo zu zum zur",
    // French
    "ai as au aux avec ce ces cet cette comment dans de des du elle en est et etait etre eu il ils je la le les leur lui ma mais \
     me mes moi mon ne nos notre nous on ont ou par pas pour quand que quel quelle quelles quels qui sa se ses son sont sur ta te \
     tes toi ton tu un une vos votre vous",
    // how people ask
    "find finds found look looking lookup note notes noted please put said say says search show tell wrote write written bitte finde \
     finden notiz notizen notiert such suche suchen zeig zeige steht stand geschrieben cherche chercher montre trouve trouver",
];
