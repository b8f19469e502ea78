/* Statistics of the trials that are shown: shares with intervals, and who answers what. */

const LEVEL = "95 %";
const QUANTILE = 1.959964;

/**
 * Return the share of right answers with its interval (Wilson 1927).
 *
 * Trials of one unit depend on each other, so the unit's mean is one value. Values between 0 and 1 vary no more than
 * right and wrong answers with the same mean, for which the interval is made: it is at least as wide as it must be.
 * @param {Trial[]} trials
 * @returns {{share: number, low: number, high: number, n: number}} `n` counts units.
 */
function shareOf(trials) {
  const units = new Map();
  for (const trial of trials) {
    const unit = unitOf(trial);
    const sums = units.get(unit) ?? { right: 0, all: 0 };
    units.set(unit, { right: sums.right + (trial.right ? 1 : 0), all: sums.all + 1 });
  }
  const n = units.size;
  let total = 0;
  for (const { right, all } of units.values()) total += right / all;
  const share = n ? total / n : 0;
  return { share, n, ...wilson(share, n) };
}

/** Return the ends of Wilson's interval of a share; all that is possible where nothing was observed. */
function wilson(share, n) {
  if (!n) return { low: 0, high: 1 };
  const slack = (QUANTILE * QUANTILE) / n;
  const centre = (share + slack / 2) / (1 + slack);
  const reach = (QUANTILE / (1 + slack)) * Math.sqrt((share * (1 - share)) / n + slack / (4 * n));
  return { low: Math.max(centre - reach, 0), high: Math.min(centre + reach, 1) };
}

/**
 * Return groups of trials by something, each with the share of every model. The group that is low most surely comes
 * first: of the ends of intervals, the upper one counts.
 * @param {(trial: Trial) => string} groupOf
 */
function sharesBy(trials, groupOf, models) {
  const groups = new Map();
  for (const trial of trials) {
    const name = groupOf(trial);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(trial);
  }
  const shares = [...groups].map(([name, row]) => ({
    name, all: shareOf(row),
    models: models.map((model) => ({ model, ...shareOf(row.filter((trial) => trial.model === model)) }))
      .filter((one) => one.n),
  }));
  return shares.sort((one, other) => one.all.high - other.all.high || one.name.localeCompare(other.name));
}

/**
 * Return how often each right answer was answered with each answer, and how often that was right.
 * @returns {{rows: string[], columns: string[], counts: Map<string, Map<string, {all: number, right: number}>>}}
 */
function confusionOf(experiment, trials) {
  const counts = new Map(experiment.answers.map((answer) => [answer, new Map()]));
  const said = new Set();
  for (const trial of trials) {
    const answer = trial.answer ?? NO_ANSWER;
    const row = counts.get(trial.sample.answer) ?? new Map();
    const cell = row.get(answer) ?? { all: 0, right: 0 };
    row.set(answer, { all: cell.all + 1, right: cell.right + (trial.right ? 1 : 0) });
    counts.set(trial.sample.answer, row);
    said.add(answer);
  }
  const others = [...said].filter((one) => one !== NO_ANSWER).sort(byNumber);
  const choices = [...new Set(experiment.choices.flat())];
  const known = choices.length ? choices : others;
  const columns = said.has(NO_ANSWER) ? [...known, NO_ANSWER] : known;
  return { rows: [...counts.keys()], columns, counts };
}

/** Return the most frequent wrong answers in words: what was right, what was said, how often. */
function confusionsInWords(trials, most) {
  const counts = new Map();
  for (const trial of trials) {
    if (trial.right || trial.said === null) continue;
    const key = JSON.stringify([trial.sample.truth, trial.said]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1]).slice(0, most)
    .map(([key, count]) => ({ truth: JSON.parse(key)[0], said: JSON.parse(key)[1], count }));
}

/** Return for each model and each other one the number of samples of which the first is right and the other wrong. */
function rightWhereWrong(samples, filters) {
  const models = [...filters.models];
  const counts = new Map(models.map((model) => [model, new Map(models.map((other) => [other, 0]))]));
  for (const sample of samples) {
    const trials = counted(sample, filters);
    const right = new Set(trials.filter((trial) => trial.right).map((trial) => trial.model));
    const wrong = new Set(trials.filter((trial) => !trial.right).map((trial) => trial.model));
    for (const one of right) {
      for (const other of wrong) if (one !== other) counts.get(one).set(other, counts.get(one).get(other) + 1);
    }
  }
  return counts;
}

function byNumber(one, other) {
  return Number(one) - Number(other) || one.localeCompare(other);
}
