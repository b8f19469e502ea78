/* Charts of what is shown: shares with intervals, confusions, and models beside each other. */

const FIRST_GROUPS = 15;
const FREQUENT = 12;
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** By what trials are grouped in the chart of shares. */
const GROUPINGS = {
  answer: { name: "right answer or kind", of: (trial) => trial.sample.answer },
  label: { name: "what is shown", of: (trial) => trial.sample.label },
  change: { name: "change", of: (trial) => trial.sample.change || UNCHANGED },
  experiment: {
    name: "experiment",
    of: ({ sample }) => `${sample.experiment.number}: ${sample.experiment.task}`,
  },
};

/** Return the color of a model, which is the same in all charts. */
function colorOf(model) {
  return `var(--model-${model % 8})`;
}

/** Make the scale above or below bars, with its ticks labelled. */
function axisRow() {
  const ticks = TICKS.map((tick) => {
    const label = element("span", {}, percent(tick));
    label.style.left = length(tick);
    return label;
  });
  return element("div.bar-row.axis", { "aria-hidden": "true" },
    element("span"), element("div.track", {}, ...ticks), element("span"));
}

/** Make the bar of a share: the interval as a line, the share as a point. */
function barRow(name, one, color) {
  const interval = `${LEVEL} interval ${percent(one.low)} to ${percent(one.high)}`;
  const said = `${percent(one.share)} right, ${interval}, n = ${one.n}`;
  const line = element("i");
  line.style.left = length(one.low);
  line.style.width = length(one.high - one.low);
  line.style.background = color;
  const point = element("b");
  point.style.left = length(one.share);
  point.style.background = color;
  const span = `${wholePercents(one.low)}–${wholePercents(one.high)}`;
  return element("div.bar-row", { role: "img", "aria-label": `${name}: ${said}`, title: said },
    element("span.bar-name", {}, name),
    element("div.track", {}, line, point),
    element("span.bar-figures", {}, `${percent(one.share)} (${span}), n = ${counting(one.n)}`));
}

/** Fill the chart of shares by class, models side by side. */
function fillShares(box, shown, evidence, filters, grouping, all) {
  const models = [...filters.models];
  const groups = sharesBy(shown.trials, GROUPINGS[grouping].of, models);
  const listed = all ? groups : groups.slice(0, FIRST_GROUPS);
  const total = models.map((model) => ({ model, ...shareOf(shown.trials.filter((trial) => trial.model === model)) }))
    .filter((one) => one.n);
  const section = (name, rows) => element("div.group", {}, element("h4", {}, name),
    ...rows.map((one) => barRow(evidence.models[one.model], one, colorOf(one.model))));
  box.replaceChildren(axisRow(), section("all that are shown", total),
    ...listed.map((group) => section(group.name, group.models)), axisRow());
  return groups.length - listed.length;
}

/** Fill the confusion matrices of an experiment, one for each model. */
function fillConfusions(box, shown, evidence, filters, choose) {
  const experiments = [...new Set(shown.trials.map((trial) => trial.sample.experiment))];
  const [experiment] = experiments;
  if (!experiment) return box.replaceChildren(element("p.soft", {}, "No pictures pass the filters."));
  const about = confusionNote(experiment, experiments.length);
  const note = element("p.soft", {}, `Experiment ${experiment.number}: ${experiment.task}. ${about}`);
  const parts = [];
  for (const model of filters.models) {
    const trials = shown.trials.filter((trial) => trial.model === model && trial.sample.experiment === experiment);
    if (!trials.length) continue;
    const table = experiment.protocol === "freeform" ? ""
      : matrix(experiment, trials, (answer, said) => choose(experiment, model, answer, said));
    const caption = element("figcaption", {}, evidence.models[model]);
    parts.push(element("figure.confusion", {}, caption, table, frequent(trials)));
  }
  return box.replaceChildren(note, element("div.matrices", {}, ...parts));
}

function confusionNote(experiment, number) {
  const others = number > 1 ? "Choose another experiment above. " : "";
  if (experiment.protocol === "freeform") return `${others}Answers are free; the most frequent wrong ones are listed.`;
  const rows = {
    drawn: "Names are drawn for each picture: rows are the place of the right name among the choices, "
      + "columns the place that was answered.",
    pairs: "Rows are kinds of pairs, columns the scores.",
    choice: "Rows are right answers, columns what was answered.",
  }[experiment.drawn ? "drawn" : experiment.protocol];
  return `${others}${rows} A cell shows its pictures.`;
}

function matrix(experiment, trials, choose) {
  const { rows, columns, counts } = confusionOf(experiment, trials);
  const head = element("tr", {}, element("td.corner", {}, "right ↓ answered →"),
    ...columns.map((name) => element("th", { scope: "col" }, name)));
  const body = rows.map((answer) => {
    const row = counts.get(answer);
    const total = [...row.values()].reduce((sum, cell) => sum + cell.all, 0);
    return element("tr", {}, element("th", { scope: "row" }, answer), ...columns.map((said) => {
      const { all: count, right } = row.get(said) ?? { all: 0, right: 0 };
      const label = `${answer} answered with ${said}: ${count}`;
      const cell = element(2 * right > count ? "td.mostly-right" : "td", {},
        count ? countButton(count, label, () => choose(answer, said)) : "·");
      cell.style.setProperty("--share", total ? count / total : 0);
      return cell;
    }));
  });
  return element("div.wide", {},
    element("table.matrix", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

/** Make the button of a cell, which shows its pictures. */
function countButton(count, label, show) {
  return element("button", { type: "button", "aria-label": label, click: show }, counting(count));
}

function frequent(trials) {
  const listed = confusionsInWords(trials, FREQUENT);
  if (!listed.length) return element("p.soft", {}, "No wrong answers.");
  return element("details", {}, element("summary", {}, "Most frequent wrong answers"),
    element("ul", {}, ...listed.map(({ truth, said, count }) =>
      element("li", {}, `${truth} → ${said} (${counting(count)}×)`))));
}

/** Fill the table of who is right where another one is wrong. */
function fillComparison(box, shown, evidence, filters, choose) {
  const models = [...filters.models];
  if (models.length < 2) return box.replaceChildren(element("p.soft", {}, "Choose two models or more."));
  const counts = rightWhereWrong(shown.samples, filters);
  const head = element("tr", {}, element("td.corner", {}, "right ↓ wrong →"),
    ...models.map((model) => element("th", { scope: "col" }, evidence.models[model])));
  const rows = models.map((one) => element("tr", {}, element("th", { scope: "row" }, evidence.models[one]),
    ...models.map((other) => {
      const count = counts.get(one).get(other);
      const label = `${evidence.models[one]} right, ${evidence.models[other]} wrong: ${count} pictures`;
      if (one === other) return element("td");
      return element("td", {}, count ? countButton(count, label, () => choose(one, other)) : "0");
    })));
  const about = "Pictures of which the model of the row is right and that of the column is wrong. A cell shows them.";
  return box.replaceChildren(
    element("p.soft", {}, about),
    element("div.wide", {}, element("table.matrix", {}, element("thead", {}, head), element("tbody", {}, ...rows))));
}
