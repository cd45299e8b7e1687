// The strings of the views Labels, Topics and Model.

export const VIEWS = {
  "views.labels": { en: "Labels", de: "Schlagwörter", fr: "Descripteurs", fi: "Asiasanat" },
  "views.model": { en: "Model", de: "Modell", fr: "Modèle", fi: "Malli" },
  "views.more": { en: "Show more", de: "Mehr zeigen", fr: "Afficher plus", fi: "Näytä lisää" },
  "views.trained": {
    en: { one: "{n} training document", other: "{n} training documents" },
    de: { one: "{n} Trainingsdokument", other: "{n} Trainingsdokumente" },
    fr: { one: "{n} document d’apprentissage", other: "{n} documents d’apprentissage" },
    fi: { one: "{n} opetusasiakirja", other: "{n} opetusasiakirjaa" },
  },

  "labels.search": {
    en: "Name, synonym or notation", de: "Name, Synonym oder Notation",
    fr: "Nom, synonyme ou notation", fi: "Nimi, synonyymi tai notaatio",
  },
  "labels.order": { en: "Order", de: "Reihenfolge", fr: "Ordre", fi: "Järjestys" },
  "labels.frequency": {
    en: "most used first", de: "häufigste zuerst", fr: "les plus fréquents", fi: "yleisimmät ensin",
  },
  "labels.rarest": { en: "rarest first", de: "seltenste zuerst", fr: "les plus rares", fi: "harvinaisimmat ensin" },
  "labels.best": {
    en: "best found first", de: "am besten gefundene", fr: "les mieux trouvés", fi: "parhaiten löytyvät ensin",
  },
  "labels.worst": {
    en: "worst found first", de: "am schlechtesten gefundene", fr: "les moins bien trouvés",
    fi: "huonoiten löytyvät ensin",
  },
  "labels.name": { en: "by name", de: "nach Namen", fr: "par nom", fi: "nimen mukaan" },
  "labels.matched": { en: "also: {name}", de: "auch: {name}", fr: "aussi : {name}", fi: "myös: {name}" },
  "labels.choose": {
    en: "Choose a label to see its words, its companions and how well it is found.",
    de: "Ein Schlagwort wählen: seine Wörter, seine Begleiter und wie gut es gefunden wird.",
    fr: "Choisissez un descripteur pour voir ses mots, ses compagnons et la qualité de ses propositions.",
    fi: "Valitse asiasana, niin näet sen sanat, kumppanit ja kuinka hyvin se löytyy.",
  },
  "labels.back": {
    en: "← All labels", de: "← Alle Schlagwörter", fr: "← Tous les descripteurs", fi: "← Kaikki asiasanat",
  },
  "labels.share": {
    en: "{trained}, {share} of all", de: "{trained}, {share} von allen", fr: "{trained}, {share} du total",
    fi: "{trained}, {share} kaikista",
  },
  "labels.by-name": {
    en: "No training document has it: the model knows only its name.",
    de: "Kein Trainingsdokument hat es: Nur sein Name ist bekannt.",
    fr: "Aucun document d’apprentissage ne le porte : il n’est connu que par son nom.",
    fi: "Sitä ei ole missään opetusasiakirjassa: siitä tiedetään vain nimi.",
  },
  "labels.quality": {
    en: { one: "Average precision {value} for the {n} held-out document that has it.", other: "Average precision {value} for the {n} held-out documents that have it." },
    de: { one: "Mittlere Genauigkeit {value} für das eine zurückgehaltene Dokument, das es hat.", other: "Mittlere Genauigkeit {value} für die {n} zurückgehaltenen Dokumente, die es haben." },
    fr: { one: "Précision moyenne {value} pour le seul document réservé qui le porte.", other: "Précision moyenne {value} pour les {n} documents réservés qui le portent." },
    fi: { one: "Keskimääräinen tarkkuus {value} ({n} sivuun jätetty asiakirja, jolla se on).", other: "Keskimääräinen tarkkuus {value} ({n} sivuun jätettyä asiakirjaa, joilla se on)." },
  },
  "labels.good": {
    en: "It is found well.", de: "Es wird gut gefunden.", fr: "Il est bien trouvé.", fi: "Se löytyy hyvin.",
  },
  "labels.fair": {
    en: "It is found fairly well.", de: "Es wird leidlich gefunden.", fr: "Il est assez bien trouvé.",
    fi: "Se löytyy kohtalaisesti.",
  },
  "labels.poor": {
    en: "It is found badly: check it carefully.", de: "Es wird schlecht gefunden: genau hinsehen.",
    fr: "Il est mal trouvé : vérifiez.", fi: "Se löytyy huonosti: katso tarkkaan.",
  },
  "labels.unmeasured": {
    en: "How well it is found is unknown: no held-out document has it.",
    de: "Wie gut es gefunden wird, ist nicht bekannt: Kein zurückgehaltenes Dokument hat es.",
    fr: "On ignore s’il est bien trouvé : aucun document réservé ne le porte.",
    fi: "Ei tiedetä, kuinka hyvin se löytyy: sitä ei ole missään sivuun jätetyssä asiakirjassa.",
  },
  "labels.distinctive-shares": {
    en: "Its most distinctive words, and their share of all its words", de: "Wörter, die es von anderen unterscheiden, und ihr Anteil an seinen Wörtern",
    fr: "Mots qui le distinguent, et leur part dans ses mots", fi: "Sanat, jotka erottavat sen muista, ja niiden osuus sen sanoista",
  },
  "labels.words": {
    en: "Its most frequent words", de: "Seine häufigsten Wörter", fr: "Ses mots les plus fréquents",
    fi: "Sen yleisimmät sanat",
  },
  "labels.also": { en: "Also called", de: "Heißt auch", fr: "Aussi appelé", fi: "Muita nimiä" },
  "labels.thesaurus": { en: "In the thesaurus", de: "Nach dem Thesaurus", fr: "Selon le thésaurus", fi: "Sanaston mukaan" },
  "labels.no-relatives": {
    en: "No broader, narrower or related terms.", de: "Keine Ober-, Unter- oder verwandten Begriffe.",
    fr: "Ni terme générique, ni spécifique, ni associé.", fi: "Ei ylä-, ala- eikä rinnakkaiskäsitteitä.",
  },
  "labels.broader": { en: "Broader", de: "Oberbegriffe", fr: "Termes génériques", fi: "Yläkäsitteet" },
  "labels.narrower": { en: "Narrower", de: "Unterbegriffe", fr: "Termes spécifiques", fi: "Alakäsitteet" },
  "labels.related": { en: "Related", de: "Verwandte Begriffe", fr: "Termes associés", fi: "Rinnakkaiskäsitteet" },
  "labels.model": { en: "In the model", de: "Nach dem Modell", fr: "Selon le modèle", fi: "Mallin mukaan" },
  "labels.alone": {
    en: "It occurs with no other label.", de: "Es steht neben keinem anderen Schlagwort.",
    fr: "Il n’accompagne aucun autre descripteur.", fi: "Se ei esiinny muiden asiasanojen kanssa.",
  },
  "labels.beside": {
    en: "Labels that occur with it, and on how many of its documents",
    de: "Schlagwörter neben ihm, und auf wie vielen seiner Dokumente",
    fr: "Descripteurs qui l’accompagnent, et sur combien de ses documents",
    fi: "Asiasanat sen rinnalla, ja kuinka monessa sen asiakirjassa",
  },
  "labels.examples": {
    en: "Typical training documents", de: "Typische Trainingsdokumente",
    fr: "Documents d’apprentissage typiques", fi: "Tyypillisiä opetusasiakirjoja",
  },

  "model.title": { en: "Model card", de: "Modellkarte", fr: "Fiche du modèle", fi: "Mallikortti" },
  "model.said": {
    en: "A {model} of {labels} and {words}. It reads {what}. Served by deplda {version}.",
    de: "Ein {model} mit {labels} und {words}. Es liest {what}. Bereitgestellt von deplda {version}.",
    fr: "Un {model} de {labels} et {words}. Il lit {what}. Servi par deplda {version}.",
    fi: "{model}, jossa on {labels} ja {words}. Se lukee {what}. Palvelun tarjoaa deplda {version}.",
  },
  "model.texts": { en: "texts", de: "Texte", fr: "des textes", fi: "tekstejä" },
  "model.counts": { en: "word counts", de: "Wortzahlen", fr: "des nombres de mots", fi: "sanamääriä" },
  "model.good": { en: "How good it is", de: "Wie gut es ist", fr: "Sa qualité", fi: "Kuinka hyvä se on" },
  "model.held-out": {
    en: { one: "Measured on {n} training document held out.", other: "Measured on {n} training documents held out, by a model of the others." },
    de: { one: "Gemessen an {n} zurückgehaltenen Trainingsdokument.", other: "Gemessen an {n} zurückgehaltenen Trainingsdokumenten, mit einem Modell der übrigen." },
    fr: { one: "Mesuré sur {n} document d’apprentissage réservé.", other: "Mesuré sur {n} documents d’apprentissage réservés, par un modèle des autres." },
    fi: { one: "Mitattu {n} sivuun jätetyllä opetusasiakirjalla.", other: "Mitattu {n} sivuun jätetyllä opetusasiakirjalla, muista opetetulla mallilla." },
  },
  "model.not-judged": {
    en: { one: "{n} more has no label that other documents have.", other: "{n} more have no label that other documents have." },
    de: { one: "{n} weiteres hat kein Schlagwort, das auch andere Dokumente haben.", other: "{n} weitere haben kein Schlagwort, das auch andere Dokumente haben." },
    fr: { one: "{n} autre n’a aucun descripteur que d’autres documents aient aussi.", other: "{n} autres n’ont aucun descripteur que d’autres documents aient aussi." },
    fi: { one: "{n} muulla ei ole yhtään asiasanaa, joka olisi myös toisilla asiakirjoilla.", other: "{n} muulla ei ole yhtään asiasanaa, joka olisi myös toisilla asiakirjoilla." },
  },
  "model.unmeasured": {
    en: "Nothing was measured in training; use deplda evaluate with labelled documents.",
    de: "Beim Training wurde nichts gemessen; deplda evaluate sagt es für verschlagwortete Dokumente.",
    fr: "Rien n’a été mesuré à l’apprentissage ; deplda evaluate le dit pour des documents indexés.",
    fi: "Opetuksessa ei mitattu mitään; deplda evaluate kertoo sen asiasanoitetuista asiakirjoista.",
  },
  "model.first": {
    en: "of the documents: the first label is right", de: "der Dokumente: Das erste Schlagwort stimmt",
    fr: "des documents : le premier descripteur est juste", fi: "asiakirjoista: ensimmäinen asiasana on oikea",
  },
  "model.five": {
    en: "of the first five labels are right", de: "der ersten fünf Schlagwörter stimmen",
    fr: "des cinq premiers descripteurs sont justes", fi: "viidestä ensimmäisestä asiasanasta on oikein",
  },
  "model.off": {
    en: "a probability is off by this much, on average", de: "liegt eine Wahrscheinlichkeit im Mittel daneben",
    fr: "d’écart moyen d’une probabilité", fi: "todennäköisyys on keskimäärin näin paljon pielessä",
  },
  "model.picture": {
    en: "How well labels are found, from rare to frequent", de: "Wie gut Schlagwörter gefunden werden, von selten bis häufig",
    fr: "Qualité selon la fréquence des descripteurs", fi: "Kuinka hyvin asiasanat löytyvät, harvinaisista yleisiin",
  },
  "model.caption": {
    en: "Average precision by label, from 0 to 1: a bar is the mean, the line spans the middle half of the labels. A label of {rare} reaches {low}, one of {frequent} {high}.",
    de: "Mittlere Genauigkeit je Schlagwort, 0 bis 1: Ein Balken ist der Mittelwert, der Strich die mittlere Hälfte. Mit {rare} wird {low} erreicht, mit {frequent} {high}.",
    fr: "Précision moyenne par descripteur, de 0 à 1 : une barre est la moyenne, le trait la moitié centrale. Avec {rare} on atteint {low}, avec {frequent} {high}.",
    fi: "Keskimääräinen tarkkuus asiasanoittain, 0–1: pylväs on keskiarvo, viiva keskimmäinen puolikas. {rare}: {low}; {frequent}: {high}.",
  },
  "model.band": {
    en: { one: "{span} training document", other: "{span} training documents" },
    de: { one: "{span} Trainingsdokument", other: "{span} Trainingsdokumenten" },
    fr: { one: "{span} document d’apprentissage", other: "{span} documents d’apprentissage" },
    fi: { one: "{span} opetusasiakirja", other: "{span} opetusasiakirjaa" },
  },
  "model.labels": { en: "labels", de: "Schlagwörter", fr: "descripteurs", fi: "asiasanoja" },
  "model.measured": { en: "measured", de: "gemessen", fr: "mesurés", fi: "mitattu" },
  "model.mean": { en: "average precision", de: "mittlere Genauigkeit", fr: "précision moyenne", fi: "keskimääräinen tarkkuus" },
  "model.half": { en: "middle half", de: "mittlere Hälfte", fr: "moitié centrale", fi: "keskimmäinen puolikas" },
  "model.numbers": { en: "The numbers", de: "Die Zahlen", fr: "Les chiffres", fi: "Luvut" },
  "model.trained-on": { en: "What it was trained on", de: "Woraus es gelernt hat", fr: "Ce dont il a appris", fi: "Mistä se on oppinut" },
  "model.n_documents": { en: "documents", de: "Dokumente", fr: "documents", fi: "asiakirjoja" },
  "model.n_tokens": { en: "words read", de: "gelesene Wörter", fr: "mots lus", fi: "luettuja sanoja" },
  "model.n_words": { en: "different words kept", de: "verschiedene Wörter behalten", fr: "mots différents retenus", fi: "eri sanoja säilytetty" },
  "model.n_labels": { en: "labels", de: "Schlagwörter", fr: "descripteurs", fi: "asiasanoja" },
  "model.cardinality": { en: "labels per document, mean", de: "Schlagwörter je Dokument, Mittel", fr: "descripteurs par document, moyenne", fi: "asiasanoja asiakirjalla, keskiarvo" },
  "model.label_frequency_median": { en: "documents per label, median", de: "Dokumente je Schlagwort, Median", fr: "documents par descripteur, médiane", fi: "asiakirjoja asiasanalla, mediaani" },
  "model.unique_label_sets": {
    en: "documents with a unique set of labels", de: "Dokumente, deren Schlagwörter zusammen kein anderes hat",
    fr: "documents dont aucun autre n’a tous les descripteurs", fi: "asiakirjoja, joiden asiasanojen yhdistelmä on ainoa",
  },
  "model.language": { en: "language", de: "Sprache", fr: "langue", fi: "kieli" },
  "model.parameters": { en: "Parameters", de: "Parameter", fr: "Paramètres", fi: "Parametrit" },
  "model.chosen": { en: "{value} (chosen by rule)", de: "{value} (nach Regel gewählt)", fr: "{value} (choisi par règle)", fi: "{value} (säännöllä valittu)" },
  "model.limits": { en: "Limits of this service", de: "Grenzen dieses Dienstes", fr: "Limites de ce service", fi: "Palvelun rajat" },
  "model.api": { en: "For programs", de: "Für Programme", fr: "Pour les programmes", fi: "Ohjelmille" },
  "model.all": { en: "All of it: ", de: "Alles: ", fr: "Tout : ", fi: "Kaikki: " },
  "model.tested": {
    en: { one: "Tested on {n} other document", other: "Tested on {n} other documents" },
    de: { one: "Geprüft an {n} anderen Dokument", other: "Geprüft an {n} anderen Dokumenten" },
    fr: { one: "Testé sur {n} autre document", other: "Testé sur {n} autres documents" },
    fi: { one: "Testattu {n} muulla asiakirjalla", other: "Testattu {n} muulla asiakirjalla" },
  },
};
