// The strings that say why a label is suggested, and what a word speaks for.

export const WHY = {
  "why.title": { en: "Why {label}?", de: "Warum {label}?", fr: "Pourquoi {label} ?", fi: "Miksi {label}?" },
  "why.given": {
    en: "Suggested {because}.", de: "Vorgeschlagen {because}.", fr: "Proposé {because}.", fi: "Ehdotettu, {because}.",
  },
  "why.considered": {
    en: "Less likely, but considered {because}.", de: "Weniger wahrscheinlich, aber erwogen {because}.",
    fr: "Moins probable, mais envisagé {because}.", fi: "Vähemmän todennäköinen, mutta harkittu, {because}.",
  },
  "why.words": {
    en: { one: "because of the word {words}", other: "because of the words {words}" },
    de: { one: "wegen des Wortes {words}", other: "wegen der Wörter {words}" },
    fr: { one: "en raison du mot {words}", other: "en raison des mots {words}" },
    fi: { one: "koska tekstissä on sana {words}", other: "koska tekstissä ovat sanat {words}" },
  },
  "why.companion": {
    en: "because it often occurs with {label}", de: "weil es oft zusammen mit {label} vergeben wird",
    fr: "parce qu’il accompagne souvent {label}", fi: "koska se esiintyy usein yhdessä asiasanan {label} kanssa",
  },
  "why.name": {
    en: "because its name “{name}” occurs in the text", de: "weil sein Name „{name}“ im Text steht",
    fr: "parce que son nom « {name} » figure dans le texte", fi: "koska sen nimi ”{name}” on tekstissä",
  },
  "why.synonym": {
    en: "because its synonym “{name}” occurs in the text", de: "weil sein Synonym „{name}“ im Text steht",
    fr: "parce que son synonyme « {name} » figure dans le texte", fi: "koska sen synonyymi ”{name}” on tekstissä",
  },
  "why.apart": {
    en: "because the words of its name “{name}” occur in the text, though not together", de: "weil die Wörter seines Namens „{name}“ im Text stehen, wenn auch getrennt",
    fr: "parce que les mots de son nom « {name} » figurent dans le texte, bien que séparés",
    fi: "koska sen nimen ”{name}” sanat ovat tekstissä, joskin erillään",
  },
  "why.often": {
    en: "because it is assigned often", de: "weil es oft vergeben wird", fr: "parce qu’il est souvent attribué",
    fi: "koska sitä käytetään usein",
  },
  "why.by-name": {
    en: "No training document has it: the model knows only its name.",
    de: "Kein Trainingsdokument hat es: Das Modell kennt nur seinen Namen.",
    fr: "Aucun document d’apprentissage ne l’a : le modèle ne connaît que son nom.",
    fi: "Sitä ei ole missään opetusaineiston asiakirjassa: malli tuntee vain sen nimen.",
  },
  "why.sources": {
    en: "What each kind of evidence adds", de: "Was jede Art von Beleg beiträgt",
    fr: "Ce qu’apporte chaque sorte d’indice", fi: "Mitä kukin todiste lisää",
  },
  "why.log-odds": { en: "Log-odds", de: "Logit", fr: "Logit", fi: "Logit" },
  "why.that-is": { en: "that is {chance}", de: "das sind {chance}", fr: "soit {chance}", fi: "eli {chance}" },
  "why.log-odds-hint": {
    en: "Log-odds are a scale on which evidence adds up: 0 is 50 %, +2.2 is 90 %, −2.2 is 10 %.",
    de: "Der Logit ist eine Skala, auf der sich Belege addieren: 0 ist 50 %, +2,2 ist 90 %, −2,2 ist 10 %.",
    fr: "Le logit est une échelle où les indices s’additionnent : 0 vaut 50 %, +2,2 vaut 90 %, −2,2 vaut 10 %.",
    fi: "Logit on asteikko, jolla todisteet laskeutuvat yhteen: 0 on 50 %, +2,2 on 90 %, −2,2 on 10 %.",
  },
  "why.by-model": {
    en: "Its strongest words, by model", de: "Seine stärksten Wörter, nach Modell",
    fr: "Ses mots les plus forts, par modèle", fi: "Sen vahvimmat sanat malleittain",
  },
  "why.word": { en: "word", de: "Wort", fr: "mot", fi: "sana" },
  "why.other-words": { en: "all other words", de: "alle anderen Wörter", fr: "tous les autres mots", fi: "kaikki muut sanat" },
  "why.svm": { en: "SVM", de: "SVM", fr: "SVM", fi: "SVM" },
  "why.topic-model": { en: "topic model", de: "Topic-Modell", fr: "modèle thématique", fi: "aihemalli" },
  "why.together": { en: "together", de: "zusammen", fr: "ensemble", fi: "yhteensä" },
  "why.with": {
    en: "Labels it occurs with, and what they add", de: "Schlagwörter, mit denen es auftritt, und ihr Beitrag",
    fr: "Descripteurs qu’il accompagne, et leur apport", fi: "Asiasanat, joiden kanssa se esiintyy, ja niiden osuus",
  },
  "why.others": { en: "all others", de: "alle anderen", fr: "tous les autres", fi: "kaikki muut" },
  "why.with-shares": {
    en: "Labels it occurs with, and their share in making it likely",
    de: "Schlagwörter, mit denen es auftritt, und ihr Anteil daran, dass es wahrscheinlich ist",
    fr: "Descripteurs qu’il accompagne, et leur part dans sa probabilité",
    fi: "Asiasanat, joiden kanssa se esiintyy, ja niiden osuus sen todennäköisyydestä",
  },
  "why.occurrences": {
    en: "Its words, and how many of their occurrences support it",
    de: "Seine Wörter, und wie viele ihrer Vorkommen für es sprechen",
    fr: "Ses mots, et combien de leurs occurrences parlent pour lui",
    fi: "Sen sanat ja kuinka moni niiden esiintymistä puhuu sen puolesta",
  },
  "why.share-words": {
    en: "{share} % of its score comes from its words,", de: "{share} % seines Werts kommen von seinen Wörtern,",
    fr: "{share} % de son score vient de ses mots,", fi: "{share} % sen pisteistä tulee sen sanoista,",
  },
  "why.share-labels": {
    en: "{share} % from the labels it occurs with.", de: "{share} % von den Schlagwörtern, mit denen es auftritt.",
    fr: "{share} % des descripteurs qu’il accompagne.", fi: "{share} % asiasanoista, joiden kanssa se esiintyy.",
  },
  "why.share-before": {
    en: "{share} % comes from the prior.", de: "{share} % waren vorher schon wahrscheinlich.",
    fr: "{share} % était déjà probable.", fi: "{share} % oli todennäköistä jo ennestään.",
  },
  "why.examples": {
    en: "The most similar training documents with this label",
    de: "Die ähnlichsten Trainingsdokumente mit diesem Schlagwort",
    fr: "Les documents d’apprentissage les plus semblables qui ont ce descripteur",
    fi: "Samankaltaisimmat opetusaineiston asiakirjat, joilla on tämä asiasana",
  },
  "why.hint": {
    en: "Point at a label, or step with ↓ and ↑, to see its words and why it is suggested.",
    de: "Zeigen Sie auf ein Schlagwort, oder gehen Sie mit ↓ und ↑ hin, um seine Wörter und seine Gründe zu sehen.",
    fr: "Pointez un descripteur, ou avancez avec ↓ et ↑, pour voir ses mots et ses raisons.",
    fi: "Osoita asiasanaa tai siirry nuolilla ↓ ja ↑, niin näet sen sanat ja perustelut.",
  },
  "source.words": { en: "Its words", de: "Seine Wörter", fr: "Ses mots", fi: "Sen sanat" },
  "source.companions": {
    en: "Labels it occurs with", de: "Schlagwörter, mit denen es auftritt", fr: "Descripteurs qu’il accompagne",
    fi: "Asiasanat, joiden kanssa se esiintyy",
  },
  "source.likeness": {
    en: "Similarity to its documents", de: "Ähnlichkeit mit seinen Dokumenten", fr: "Ressemblance avec ses documents",
    fi: "Samankaltaisuus sen asiakirjojen kanssa",
  },
  "source.frequency": {
    en: "How often it is assigned", de: "Wie oft es vergeben wird", fr: "Sa fréquence", fi: "Kuinka usein sitä käytetään",
  },
  "source.name": { en: "Its name in the text", de: "Sein Name im Text", fr: "Son nom dans le texte", fi: "Sen nimi tekstissä" },
  "source.vectors": {
    en: "Nearest labels by vector", de: "Nahe Schlagwörter nach Vektor", fr: "Descripteurs proches par vecteur",
    fi: "Lähellä olevat asiasanat (vektorit)",
  },
  "source.neighbours": {
    en: "The nearest documents", de: "Die nächsten Dokumente", fr: "Les documents les plus proches",
    fi: "Lähimmät asiakirjat",
  },
  "source.calibration": {
    en: "Correction by held-out documents", de: "Korrektur durch zurückgehaltene Dokumente",
    fr: "Correction d’après les documents réservés", fi: "Korjaus sivuun jätettyjen asiakirjojen mukaan",
  },
  "source.start": {
    en: "Base value, without its words", de: "Womit es beginnt, ohne seine Wörter",
    fr: "Son point de départ, sans ses mots", fi: "Mistä se lähtee ilman sanojaan",
  },
  "name.name": {
    en: "Its name “{name}” occurs in the text", de: "Sein Name „{name}“ steht im Text",
    fr: "Son nom « {name} » figure dans le texte", fi: "Sen nimi ”{name}” on tekstissä",
  },
  "name.synonym": {
    en: "Its synonym “{name}” occurs in the text", de: "Sein Synonym „{name}“ steht im Text",
    fr: "Son synonyme « {name} » figure dans le texte", fi: "Sen synonyymi ”{name}” on tekstissä",
  },
  "name.apart": {
    en: "The words of its name “{name}” occur in the text, but not together",
    de: "Die Wörter seines Namens „{name}“ stehen im Text, aber getrennt",
    fr: "Les mots de son nom « {name} » figurent dans le texte, mais séparés",
    fi: "Sen nimen ”{name}” sanat ovat tekstissä, mutta erillään",
  },
  "name.as": { en: "as “{written}”", de: "als „{written}“", fr: "sous la forme « {written} »", fi: "muodossa ”{written}”" },
  "word.nothing": {
    en: "supports none of these labels", de: "spricht für keines dieser Schlagwörter",
    fr: "ne parle pour aucun de ces descripteurs", fi: "ei puhu minkään näistä asiasanoista puolesta",
  },
  "word.added": {
    en: "what the word adds to their log-odds", de: "was das Wort zu ihrem Logit beiträgt",
    fr: "ce que le mot ajoute à leur logit", fi: "mitä sana lisää niiden logitiin",
  },
  "word.tokens": {
    en: "how many of its occurrences support them", de: "wie viele seiner Vorkommen für sie sprechen",
    fr: "combien de ses occurrences parlent pour eux", fi: "kuinka moni sen esiintymistä puhuu niiden puolesta",
  },
};
