/* The evidence of a page: columns of numbers are read into samples and trials, which all other parts work on. */

/**
 * A sample: a picture that models were asked about, with all of its trials.
 * @typedef {{number: number, experiment: object, round: number, arm: number, picture: number, original: number,
 *   label: string, change: string, origin: string, truth: string, answer: string, choices: string[], name: string,
 *   trials: Trial[], searched: string}} Sample
 *
 * A trial: what one model said about a sample.
 * @typedef {{sample: Sample, model: number, plain: boolean, way: string|null, question: string, target: string,
 *   said: string|null, text: string|null, answer: string|null, right: boolean, mean: number[], basis: string}} Trial
 */

/** Read the JSON of an element of the page. */
function readJson(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/**
 * Read all samples and trials.
 * @returns {{models: string[], experiments: object[], samples: Sample[], trials: Trial[]}}
 */
function readEvidence(data) {
  const text = (number) => (number < 0 ? null : data.texts[number]);
  const samples = (data.samples.experiment ?? []).map((place, number) => {
    const columns = data.samples;
    const experiment = data.experiments[place];
    return {
      number, experiment, round: columns.round[number], arm: columns.arm[number],
      picture: columns.picture[number], original: columns.original[number],
      label: text(columns.label[number]), change: text(columns.change[number]), origin: text(columns.origin[number]),
      truth: text(columns.truth[number]), answer: text(columns.answer[number]),
      choices: data.lists[columns.choices[number]].map(text),
      name: `${experiment.number}/${columns.round[number]}/${columns.arm[number]}`,
      trials: [], searched: "",
    };
  });
  const trials = (data.trials.sample ?? []).map((place, number) => {
    const columns = data.trials;
    const sample = samples[place];
    const said = text(columns.said[number]);
    const trial = {
      sample, model: columns.model[number], plain: columns.plain[number] === 1, way: text(columns.way[number]),
      question: text(columns.question[number]), target: text(columns.target[number]), said,
      text: text(columns.text[number]), answer: answerOf(sample, said), right: columns.right[number] === 1,
      mean: columns.mean[number], basis: text(columns.basis[number]),
    };
    sample.trials.push(trial);
    return trial;
  });
  for (const sample of samples) sample.searched = searchedText(sample, data.models);
  return { models: data.models, experiments: data.experiments, samples, trials };
}

/** Return what was said as the design calls it: where names are drawn for each picture, the place of the name. */
function answerOf(sample, said) {
  const place = said === null ? -1 : sample.choices.indexOf(said);
  const { choices, arms_of_task: each } = sample.experiment;
  return place < 0 ? said : choices[Math.floor(sample.arm / each)][place] ?? said;
}

/** Return all texts of a sample in small letters, for the search. */
function searchedText(sample, models) {
  const said = sample.trials.map((trial) => `${models[trial.model]} ${trial.said ?? "no answer"}`);
  const question = sample.trials.length ? sample.trials[0].question : "";
  const own = [sample.label, sample.change, sample.origin, sample.truth, question, sample.name];
  return [...own, ...said].join(" ").toLowerCase();
}

/** Return the unit that a trial is part of: trials of one unit depend on each other. */
function unitOf(trial) {
  const { sample } = trial;
  return sample.experiment.whole_round ? `${sample.experiment.number}/${sample.round}` : sample.number;
}

/** Return by how much the likeliest choice of a trial beats the next one; infinite where nothing was weighed. */
function marginOf(trial) {
  const known = trial.mean.filter((value) => value !== null).sort((one, other) => other - one);
  return known.length > 1 ? known[0] - known[1] : Infinity;
}

/** Return the mark of an answer: that it is right or wrong is not told by its colour alone. */
function markOf(trial) {
  return trial.right ? "✓" : trial.said === null ? "–" : "✗";
}
