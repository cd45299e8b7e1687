// The strings of the header and of the Suggest view.

export const SUGGEST = {
  "count.labels": {
    en: { one: "{n} label", other: "{n} labels" },
    de: { one: "{n} Schlagwort", other: "{n} Schlagwörter" },
    fr: { one: "{n} descripteur", other: "{n} descripteurs" },
    fi: { one: "{n} asiasana", other: "{n} asiasanaa" },
  },
  "count.words": {
    en: { one: "{n} word", other: "{n} words" },
    de: { one: "{n} Wort", other: "{n} Wörter" },
    fr: { one: "{n} mot", other: "{n} mots" },
    fi: { one: "{n} sana", other: "{n} sanaa" },
  },
  "count.documents": {
    en: { one: "{n} document", other: "{n} documents" },
    de: { one: "{n} Dokument", other: "{n} Dokumente" },
    fr: { one: "{n} document", other: "{n} documents" },
    fi: { one: "{n} asiakirja", other: "{n} asiakirjaa" },
  },
  "page.skip": {
    en: "Skip to the content", de: "Zum Inhalt", fr: "Aller au contenu", fi: "Siirry sisältöön",
  },
  "page.views": { en: "Views", de: "Ansichten", fr: "Vues", fi: "Näkymät" },
  "page.language": { en: "Language", de: "Sprache", fr: "Langue", fi: "Kieli" },
  "page.model": { en: "Model", de: "Modell", fr: "Modèle", fi: "Malli" },
  "page.suggest": { en: "Suggest", de: "Vorschlagen", fr: "Proposer", fi: "Ehdota" },
};
