// A text to try the page with: news that models of many fields know something of.

import { post } from "./api.js";
import { language } from "./strings.js";

const TEXTS = {
  en: `Court stops subsidies for imported grain

The European Court of Justice ruled on Tuesday that the government may not pay subsidies to companies that import grain and sugar. The judges followed the complaint of a farmers' association, which said that state aid distorts competition and ruins small farms.

The ministry of agriculture announced that it will change the law before the harvest. Economists expect prices of bread and milk to rise slightly; consumers and schools would notice it first. Environmental groups welcomed the decision: grain from abroad comes by ship, and its transport adds to the emission of greenhouse gases.`,
  de: `Gericht stoppt Beihilfen für eingeführtes Getreide

Der Europäische Gerichtshof hat am Dienstag entschieden, dass die Regierung Unternehmen, die Getreide und Zucker einführen, keine Beihilfen zahlen darf. Die Richter folgten der Klage eines Bauernverbands: Staatliche Hilfen verzerrten den Wettbewerb und ruinierten kleine Höfe.

Das Landwirtschaftsministerium will das Gesetz noch vor der Ernte ändern. Volkswirte erwarten, dass die Preise für Brot und Milch leicht steigen; Verbraucher und Schulen würden es zuerst merken. Umweltverbände begrüßten das Urteil: Getreide aus dem Ausland kommt mit dem Schiff, und sein Transport trägt zum Ausstoß von Treibhausgasen bei.`,
  fr: `La Cour suspend les subventions aux céréales importées

La Cour de justice de l'Union européenne a jugé mardi que le gouvernement ne peut pas verser de subventions aux entreprises qui importent des céréales et du sucre. Les juges ont suivi la plainte d'une association d'agriculteurs : l'aide de l'État fausse la concurrence et ruine les petites exploitations.

Le ministère de l'Agriculture modifiera la loi avant la récolte. Les économistes prévoient une légère hausse du prix du pain et du lait ; les consommateurs et les écoles la sentiront d'abord. Les associations écologistes saluent la décision : les céréales étrangères viennent par bateau, et leur transport augmente les émissions de gaz à effet de serre.`,
  fi: `Tuomioistuin pysäytti tuontiviljan tuet

Euroopan unionin tuomioistuin päätti tiistaina, että hallitus ei saa maksaa tukia yrityksille, jotka tuovat maahan viljaa ja sokeria. Tuomarit hyväksyivät maanviljelijöiden järjestön valituksen: valtion tuki vääristää kilpailua ja vie pienet maatilat konkurssiin.

Maa- ja metsätalousministeriö aikoo muuttaa lakia ennen sadonkorjuuta. Taloustieteilijät odottavat leivän ja maidon hintojen nousevan hieman; kuluttajat ja koulut huomaavat sen ensimmäisinä. Ympäristöjärjestöt ovat tyytyväisiä: ulkomainen vilja tulee laivalla, ja kuljetus lisää kasvihuonekaasujen päästöjä.`,
};

// In the language of which the model knows most words; the reader's, where it knows all alike.
export async function exampleText() {
  const codes = [language, ...Object.keys(TEXTS).filter((code) => code !== language)];
  const asked = { documents: codes.map((code) => ({ text: TEXTS[code] })), k: 1 };
  const { documents } = await post("v1/suggest", asked);
  const known = documents.map(({ n_tokens: n, n_unknown: unknown }) => n / Math.max(n + unknown, 1));
  return TEXTS[codes[known.indexOf(Math.max(...known))]];
}
