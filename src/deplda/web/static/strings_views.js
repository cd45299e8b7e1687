// The strings of the views Labels, Topics and Model.

export const VIEWS = {
  "views.labels": { en: "Labels", de: "Schlagwörter", fr: "Descripteurs", fi: "Asiasanat" },
  "views.topics": { en: "Topics", de: "Themen", fr: "Thèmes", fi: "Aiheet" },
  "views.model": { en: "Model", de: "Modell", fr: "Modèle", fi: "Malli" },
};
