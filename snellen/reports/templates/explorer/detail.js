/* The dialog of one sample: its pictures large, what was asked, and every model's answer with its log-probabilities. */

class Detail {
  #dialog; #evidence; #pictures; #items = []; #place = 0; #closed;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {(items: Sample[], place: number) => void} closed Called with what was shown, and the place of the last one.
   */
  constructor(dialog, evidence, pictures, closed) {
    this.#dialog = dialog;
    this.#evidence = evidence;
    this.#pictures = pictures;
    this.#closed = closed;
    dialog.addEventListener("close", () => this.#closed(this.#items, this.#place));
    dialog.addEventListener("keydown", (event) => this.#onKey(event));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    this.#button("close").addEventListener("click", () => dialog.close());
    this.#button("previous").addEventListener("click", () => this.#move(-1));
    this.#button("next").addEventListener("click", () => this.#move(1));
  }

  /** Show the sample at a place of these. */
  open(items, place) {
    this.#items = items;
    this.#place = place;
    this.#fill();
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector(".detail-body").focus();
  }

  #button(name) {
    return this.#dialog.querySelector(`[data-do="${name}"]`);
  }

  #onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#move(step);
  }

  #move(step) {
    const place = this.#place + step;
    if (place < 0 || place >= this.#items.length) return;
    this.#place = place;
    this.#fill();
  }

  #fill() {
    const sample = this.#items[this.#place];
    const body = this.#dialog.querySelector(".detail-body");
    this.#dialog.querySelector(".detail-title").textContent = sample.label;
    this.#dialog.querySelector(".detail-place").textContent =
      `${counting(this.#place + 1)} of ${counting(this.#items.length)}`;
    this.#button("previous").disabled = this.#place === 0;
    this.#button("next").disabled = this.#place === this.#items.length - 1;
    body.replaceChildren(this.#figures(sample), factsOf(sample), ...this.#answers(sample));
    body.scrollTop = 0;
  }

  #figures(sample) {
    const isPair = sample.experiment.protocol === "pairs";
    const both = isPair || (sample.original !== sample.picture && sample.original >= 0);
    const figure = (number, words) => element("figure", {},
      pictureElement(this.#pictures, number, `${sample.label}, ${words}`), element("figcaption", {}, words));
    const names = isPair ? ["first", "second"] : ["before the change", "as models saw it"];
    const shown = both ? [figure(sample.original, names[0])] : [];
    if (sample.picture >= 0) shown.push(figure(sample.picture, names[1]));
    return element("div.large", {}, ...shown);
  }

  /** Return a table for each question that was asked about the sample, models side by side. */
  #answers(sample) {
    const groups = new Map();
    for (const trial of sample.trials) {
      const after = trial.way ?? (sample.experiment.paired ? "after the change" : "");
      const name = trial.plain ? "before the change" : after;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(trial);
    }
    return [...groups].map(([name, trials]) => element("section", {},
      ...(name ? [element("h4", {}, name)] : []),
      element("div.wide", {}, sample.choices.length ? this.#choiceTable(sample, trials) : this.#answerTable(trials))));
  }

  #choiceTable(sample, trials) {
    const head = element("tr", {}, element("th", {}, "choice"),
      ...trials.map((trial) => element("th", { scope: "col" }, this.#evidence.models[trial.model],
        element("small", {}, ` by ${trial.basis}`))));
    const note = () => element("small.is-right", {}, " right answer");
    const rows = sample.choices.map((choice, place) => element("tr", {},
      element("th", { scope: "row" }, choice, choice === sample.truth ? note() : ""),
      ...trials.map((trial) => probabilityCell(trial, place, choice))));
    const caption = "Mean log-probability of each choice, which decides; the bar is its share among the choices.";
    return element("table", {}, element("caption", {}, caption),
      element("thead", {}, head), element("tbody", {}, ...rows));
  }

  #answerTable(trials) {
    const rows = trials.map((trial) => element("tr", {},
      element("th", { scope: "row" }, this.#evidence.models[trial.model]),
      element("td", {}, element(`b.${trial.right ? "right" : "wrong"}`, {}, markOf(trial)), " ",
        trial.text ?? trial.said ?? NO_ANSWER),
      element("td", {}, trial.target ?? "")));
    const head = ["model", "answer", "right answer"].map((name) => element("th", { scope: "col" }, name));
    return element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  }
}

/** Make the cell of a choice: its log-probability, its share among the choices, and whether it was chosen. */
function probabilityCell(trial, place, choice) {
  const isChosen = choice === trial.said;
  const value = trial.mean[place];
  const most = Math.max(...trial.mean.map((one) => one ?? -Infinity));
  const total = trial.mean.reduce((sum, one) => sum + (one === null ? 0 : Math.exp(one - most)), 0);
  const share = value === null || value === undefined ? 0 : Math.exp(value - most) / total;
  const bar = element("i.share", { "aria-hidden": "true" });
  bar.style.width = length(share);
  const text = value === null || value === undefined ? "–" : value.toFixed(3);
  const mark = isChosen ? element(`b.${trial.right ? "right" : "wrong"}`, {}, `${markOf(trial)} `) : "";
  return element(isChosen ? "td.chosen" : "td", {}, mark, text, bar);
}

/** Make the list of what is known of a sample. */
function factsOf(sample) {
  const { experiment } = sample;
  const questions = [...new Set(sample.trials.map((trial) => trial.question))];
  const facts = [
    ["question", experiment.protocol === "pairs" ? experiment.question : questions.join(" / ")],
    [experiment.protocol === "choice" ? "right answer" : "kind", sample.truth],
    ["change", sample.change || UNCHANGED],
    ["source", sample.origin],
    ["experiment", `${experiment.number}: ${experiment.task}`],
    ["sample", `${sample.name} (experiment, round, arm)`],
  ];
  return element("dl", {}, ...facts.filter(([, value]) => value)
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}
