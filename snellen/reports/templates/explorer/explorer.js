/* The explorer: filters on top, and below them pictures, classes, confusions and models of what passes. */

const PRINTED = 60;

class Explorer {
  #root; #evidence; #pictures; #filters; #shown; #grid; #detail; #view = "pictures";
  #grouping; #allGroups = false;

  constructor(root, evidence, pictures) {
    this.#root = root;
    this.#evidence = evidence;
    this.#pictures = pictures;
    this.#filters = noFilters(evidence);
    this.#grouping = evidence.experiments.some((one) => one.drawn) ? "label" : "answer";
    this.#grid = new VirtualGrid(this.#find(".grid"),
      (sample) => makeTile(sample, evidence, pictures, this.#filters),
      (place) => this.#detail.open(this.#grid.items, place));
    this.#detail = new Detail(root.querySelector("dialog"), evidence, pictures,
      (items, place) => this.#closed(items, place));
    this.#offerFilters();
    this.#offerViews();
    window.addEventListener("beforeprint", () => this.#grid.printed(PRINTED));
    window.addEventListener("afterprint", () => this.#grid.restored());
    this.update();
  }

  /** Open the sample of a name, alone. */
  openSample(name) {
    const sample = this.#evidence.samples.find((one) => one.name === name);
    if (sample) this.#detail.open([sample], 0);
  }

  /** Show the pictures of one experiment. */
  openExperiment(number) {
    this.#filters = noFilters(this.#evidence);
    this.#showPictures({ experiment: number });
    this.#root.scrollIntoView();
  }

  /** Show what passes the filters. */
  update() {
    this.#shown = filtered(this.#evidence, this.#filters);
    const { samples, trials } = this.#shown;
    const right = trials.filter((trial) => trial.right).length;
    const of = `${counting(samples.length)} of ${counting(this.#evidence.samples.length)}`;
    this.#find(".count").textContent = `${of} ${this.#isOfPairs ? "pairs" : "pictures"}, `
      + `${counting(trials.length)} answers, ${trials.length ? percent(right / trials.length) : "none"} right`;
    this.#showChips();
    this.#showView();
  }

  /** Whether models were shown pairs: an investigation asks in one way throughout. */
  get #isOfPairs() {
    return this.#evidence.experiments.some((one) => one.protocol === "pairs");
  }

  #find(selector) {
    return this.#root.querySelector(selector);
  }

  #closed(items, place) {
    if (items !== this.#grid.items) return;
    this.#grid.activate(Math.min(place, this.#grid.items.length - 1));
    this.#find(".grid").focus({ preventScroll: true });
  }

  /** Fill the filters with what there is; one with nothing to choose from is left out. */
  #offerFilters() {
    const { samples, experiments, models } = this.#evidence;
    const values = (of) => [...new Set(samples.map(of))].sort((one, other) => one.localeCompare(other));
    const named = (choices) => Object.entries(choices).map(([value, one]) => [value, one.name]);
    const paired = experiments.some((one) => one.paired);
    const verdicts = named(VERDICTS).filter(([value]) => paired || !["lost", "gained"].includes(value));
    const all = (name, found) => [["", name], ...found.map((value) => [value, value])];
    const measured = [...new Set(samples.map((sample) => sample.experiment))];
    const tasks = measured.map((one) => [String(one.number), `${one.number}: ${one.task}`]);
    this.#offer("experiment", [["", "all experiments"], ...tasks], 3);
    const isFree = experiments.some((one) => one.protocol === "freeform");
    this.#offer("label", isFree ? [["", ""]] : all("everything", values((sample) => sample.label)), 3);
    this.#offer("answer", all("all", values((sample) => sample.answer)), 3);
    if (isFree || this.#isOfPairs) this.#find("select[name=answer]").previousElementSibling.textContent = "kind";
    this.#offer("change", all("every change", values((sample) => sample.change || UNCHANGED)), 3);
    this.#offer("verdict", verdicts, 1);
    this.#offer("agreement", named(AGREEMENTS), models.length > 1 ? 1 : Infinity);
    this.#offer("side", [["asked", "after the change"], ["before", "before the change"]], paired ? 1 : Infinity);
    this.#offer("order", named(ORDERS), 1);
    this.#offerModels();
    this.#find("[name=text]").addEventListener("input", (event) => this.#set({ text: event.target.value }));
    this.#find("form").addEventListener("submit", (event) => event.preventDefault());
    this.#find("[data-do=reset]").addEventListener("click", () => this.#reset());
  }

  #offer(name, options, least) {
    const select = this.#find(`select[name=${name}]`);
    fillSelect(select, options);
    select.closest("label").hidden = options.length < least;
    select.addEventListener("change", () => this.#set({ [name]: select.value }));
  }

  #offerModels() {
    const { models } = this.#evidence;
    const boxes = models.map((name, model) => {
      const box = element("input", { type: "checkbox", name: "models", value: model });
      box.checked = true;
      box.addEventListener("change", () => this.#chooseModels());
      return element("label", {}, box, name);
    });
    this.#find(".models-filter").append(...boxes);
    this.#find(".models-filter").hidden = models.length < 2;
  }

  #chooseModels() {
    const chosen = [...this.#root.querySelectorAll("[name=models]:checked")].map((box) => Number(box.value));
    this.#set({ models: new Set(chosen) });
  }

  #set(changes) {
    Object.assign(this.#filters, changes);
    this.update();
  }

  /** Filter by what a cell of a table stands for, and show the pictures. */
  #showPictures(changes) {
    Object.assign(this.#filters, changes);
    this.#showFilters();
    this.#choose("pictures");
    this.update();
    this.#find(".grid").focus();
  }

  #reset() {
    this.#filters = noFilters(this.#evidence);
    this.#showFilters();
    this.update();
  }

  /** Let the form show the filters as they are. */
  #showFilters() {
    for (const select of this.#root.querySelectorAll("form select")) select.value = this.#filters[select.name];
    for (const box of this.#root.querySelectorAll("[name=models]")) {
      box.checked = this.#filters.models.has(Number(box.value));
    }
    this.#find("[name=text]").value = this.#filters.text;
  }

  /** Show filters that came from tables, each with a button that takes it back. */
  #showChips() {
    const { said, rightModel, wrongModel } = this.#filters;
    const { models } = this.#evidence;
    const chip = (text, changes) => element("button.chip", { type: "button", click: () => this.#set(changes) }, text,
      element("span", { "aria-hidden": "true" }, " ×"), element("span.unseen", {}, " (remove this filter)"));
    const chips = [];
    if (said) chips.push(chip(`answered “${said}”`, { said: "" }));
    if (rightModel >= 0) chips.push(chip(`${models[rightModel]} right`, { rightModel: -1 }));
    if (wrongModel >= 0) chips.push(chip(`${models[wrongModel]} wrong`, { wrongModel: -1 }));
    this.#find(".chips").replaceChildren(...chips);
  }

  #offerViews() {
    this.#find("#tab-models").hidden = this.#evidence.models.length < 2;
    const tabs = [...this.#root.querySelectorAll("[role=tab]:not([hidden])")];
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => {
        this.#choose(tab.dataset.view);
        this.#showView();
      });
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        const next = tabs[(place + step + tabs.length) % tabs.length];
        next.focus();
        next.click();
      });
    });
    const grouping = this.#find("select[name=grouping]");
    fillSelect(grouping, Object.entries(GROUPINGS).map(([value, one]) => [value, one.name]));
    grouping.value = this.#grouping;
    grouping.addEventListener("change", () => {
      this.#grouping = grouping.value;
      this.#allGroups = false;
      this.#showView();
    });
    this.#find("[data-do=all-groups]").addEventListener("click", () => {
      this.#allGroups = true;
      this.#showView();
    });
    this.#choose("pictures");
  }

  #choose(view) {
    this.#view = view;
    for (const tab of this.#root.querySelectorAll("[role=tab]")) {
      const isChosen = tab.dataset.view === view;
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
  }

  #showView() {
    const [shown, evidence, filters] = [this.#shown, this.#evidence, this.#filters];
    if (this.#view === "pictures") {
      this.#find(".nothing").hidden = shown.samples.length > 0;
      this.#grid.show(shown.samples, tileWidth(shown.samples));
    } else if (this.#view === "classes") {
      const left = fillShares(this.#find(".shares"), shown, evidence, filters, this.#grouping, this.#allGroups);
      const button = this.#find("[data-do=all-groups]");
      button.hidden = left === 0;
      button.textContent = `Show ${counting(left)} more`;
    } else if (this.#view === "confusions") {
      fillConfusions(this.#find(".confusions"), shown, evidence, filters, (experiment, model, answer, said) =>
        this.#showPictures({ experiment: String(experiment.number), models: new Set([model]), answer, said }));
    } else {
      fillComparison(this.#find(".comparison"), shown, evidence, filters, (one, other) =>
        this.#showPictures({ models: new Set([one, other]), rightModel: one, wrongModel: other }));
    }
  }
}

/** Fill the pictures above the explorer, and have what stands there open samples and experiments. */
function fillExamples(pictures, explorer) {
  for (const image of document.querySelectorAll("img[data-picture]")) {
    image.src = `data:image/webp;base64,${pictures[Number(image.dataset.picture)]}`;
  }
  for (const button of document.querySelectorAll("button[data-sample]")) {
    button.addEventListener("click", () => explorer.openSample(button.dataset.sample));
  }
  for (const button of document.querySelectorAll("button[data-experiment]")) {
    button.addEventListener("click", () => explorer.openExperiment(button.dataset.experiment));
  }
}

/* The words of the page are painted first. */
requestAnimationFrame(() => setTimeout(() => {
  const root = document.getElementById("explorer");
  const pictures = readJson("explorer-pictures");
  const explorer = new Explorer(root, readEvidence(readJson("explorer-evidence")), pictures);
  fillExamples(pictures, explorer);
  root.dataset.ready = "true";
}));
