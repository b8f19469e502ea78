/* Tiles of the grid: the pictures of a sample, and below them what each model said, right or wrong. */

const TILE_WIDTH = 150;
const SIDES = { before: "before the change", asked: "after it" };

/** Return how wide tiles are that show these samples: pairs of pictures need twice as much. */
function tileWidth(samples) {
  return samples.some((sample) => sidesOf(sample).pictures.length > 1) ? 2 * TILE_WIDTH : TILE_WIDTH;
}

/**
 * Return what stands side by side in a tile: the pictures, and of each the trials; of a pair that was asked about
 * together, the trials once.
 */
function sidesOf(sample) {
  const { protocol, paired } = sample.experiment;
  if (protocol === "pairs") return { pictures: [sample.original, sample.picture], columns: ["asked"] };
  if (paired) return { pictures: [sample.original, sample.picture], columns: ["before", "asked"] };
  return { pictures: [sample.picture], columns: ["asked"] };
}

/** Make the tile of a sample. */
function makeTile(sample, evidence, pictures, filters) {
  const sides = sidesOf(sample);
  const models = [...filters.models];
  const images = sides.pictures.map((number) => pictureElement(pictures, number, sample.label));
  // All tiles of a page are equally high: one without two sides has an empty line where others name theirs.
  const named = evidence.experiments.some((one) => one.paired);
  const heading = (side) => element("div.side", {}, sides.columns.length > 1 ? SIDES[side] : "\u00a0");
  const lines = (side) => models.map((model) => saidLine(sample, model, side, evidence));
  const columns = sides.columns.map((side) =>
    element("div.said", {}, ...(named ? [heading(side)] : []), ...lines(side)));
  const truth = sample.experiment.protocol === "pairs" || sample.truth === sample.label ? sample.change : sample.truth;
  return element("div.tile", { "aria-label": spokenTile(sample, evidence, filters) },
    element("div.images", {}, ...images),
    element("div.caption", {}, element("strong", {}, sample.label), element("span", {}, truth || "\u00a0")),
    element("div.columns", {}, ...columns));
}

/** Make the line of what one model said. */
function saidLine(sample, model, side, evidence) {
  const trials = sample.trials.filter((trial) => trial.model === model && trial.plain === (side === "before"));
  const marks = trials.map((trial) => element(`b.${trial.right ? "right" : "wrong"}`, {}, markOf(trial)));
  const said = trials.map((trial) => trial.said ?? NO_ANSWER).join(" · ");
  return element("div.line", {}, ...(marks.length ? marks : [element("b", {}, "\u00a0")]),
    element("span.model", {}, evidence.models[model]), element("span.words", {}, trials.length ? said : "not asked"));
}

/** Say in a sentence what a tile shows. */
function spokenTile(sample, evidence, filters) {
  const said = counted(sample, filters).map((trial) =>
    `${evidence.models[trial.model]} ${trial.right ? "right" : "wrong"}: ${trial.said ?? NO_ANSWER}`);
  return [sample.label, sample.change, `right: ${sample.truth}`, ...said].filter(Boolean).join("; ");
}
