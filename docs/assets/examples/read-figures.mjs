// Prints every current decode rate with its spread, then the sentence to quote the last one by.
const answer = await fetch(process.argv[2] + "data/figures.json");
const data = await answer.json();
if (data.version !== 1) throw new Error("this example reads version 1 of the format");

const rates = data.figures.filter(
  (figure) =>
    figure.quantity === "decode_rate" &&
    figure.unit === "tok/s" &&
    figure.status === "current" &&
    figure.value !== null,
);
for (const { id, value, unit, spread } of rates) {
  const known = spread.meaning === "min_max_of_runs";
  console.log([id, value, unit, known ? `${spread.low} to ${spread.high}` : "spread not published"].join("\t"));
}
console.log(rates.at(-1).quote.en);
