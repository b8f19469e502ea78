/* Filters: which samples are shown, and which of their trials count. A filter that is empty lets everything pass. */

/** The filters as they are when nothing is filtered. */
function noFilters(evidence) {
  return {
    models: new Set(evidence.models.keys()), experiment: "", label: "", answer: "", change: "", verdict: "",
    agreement: "", side: "asked", said: "", rightModel: -1, wrongModel: -1, text: "", order: "measured",
  };
}

/** The verdicts to choose from: whether a sample with these answers passes. */
const VERDICTS = {
  "": { name: "right or wrong", passes: () => true },
  wrong: { name: "some answer wrong", passes: (trials) => trials.some((trial) => !trial.right) },
  "all-wrong": { name: "all answers wrong", passes: (trials) => trials.every((trial) => !trial.right) },
  right: { name: "some answer right", passes: (trials) => trials.some((trial) => trial.right) },
  "all-right": { name: "all answers right", passes: (trials) => trials.every((trial) => trial.right) },
  none: { name: "no answer", passes: (trials) => trials.some((trial) => trial.said === null) },
  lost: {
    name: "right before the change, wrong after",
    passes: (_, sample, filters) => changed(sample, filters, true),
  },
  gained: {
    name: "wrong before the change, right after",
    passes: (_, sample, filters) => changed(sample, filters, false),
  },
};

/** The kinds of agreement to choose from. */
const AGREEMENTS = {
  "": { name: "agree or differ", passes: () => true },
  answers: { name: "models answer differently", passes: (trials) => differ(trials, (trial) => trial.answer) },
  verdicts: { name: "some models right, some wrong", passes: (trials) => differ(trials, (trial) => trial.right) },
  same: { name: "models answer alike", passes: (trials) => !differ(trials, (trial) => trial.answer) },
};

/** The orders to choose from: a sample with a smaller key comes first. */
const ORDERS = {
  measured: { name: "as measured", key: null },
  wrong: { name: "most wrong first", key: (trials) => -trials.filter((trial) => !trial.right).length },
  close: { name: "closest calls first", key: (trials) => Math.min(...trials.map(marginOf)) },
};

/** Tell whether a model's answer changed with the picture, from right to wrong or the other way round. */
function changed(sample, filters, wasRight) {
  const chosen = sample.trials.filter((trial) => filters.models.has(trial.model));
  return chosen.some((before) => before.plain && before.right === wasRight
    && chosen.some((after) => !after.plain && after.model === before.model && after.right !== wasRight));
}

/** Tell whether models differ in something of the answers to the same question. */
function differ(trials, value) {
  const first = new Map();
  return trials.some((trial) => {
    const asked = trial.way ?? "";
    if (!first.has(asked)) first.set(asked, value(trial));
    return first.get(asked) !== value(trial);
  });
}

/** Return the trials of a sample that count: of the chosen models, about the chosen side of a pair. */
function counted(sample, filters) {
  const plain = filters.side === "before";
  return sample.trials.filter((trial) => trial.plain === plain && filters.models.has(trial.model));
}

/**
 * Return the samples that pass, in the chosen order, and the trials of theirs that count.
 * @returns {{samples: Sample[], trials: Trial[]}}
 */
function filtered(evidence, filters) {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = [];
  for (const sample of evidence.samples) {
    if (!isOfKind(sample, filters) || !words.every((word) => sample.searched.includes(word))) continue;
    const trials = counted(sample, filters);
    if (trials.length && answersPass(sample, trials, filters)) kept.push({ sample, trials });
  }
  const { key } = ORDERS[filters.order];
  if (key) {
    for (const one of kept) one.key = key(one.trials);
    kept.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  }
  return { samples: kept.map((one) => one.sample), trials: kept.flatMap((one) => one.trials) };
}

/** Tell whether a sample passes by what it shows and asks. */
function isOfKind(sample, filters) {
  return (!filters.experiment || String(sample.experiment.number) === filters.experiment)
    && (!filters.label || sample.label === filters.label)
    && (!filters.answer || sample.answer === filters.answer)
    && (!filters.change || (sample.change || UNCHANGED) === filters.change);
}

/** Tell whether a sample passes by what models said of it. */
function answersPass(sample, trials, filters) {
  const by = (model) => trials.filter((trial) => trial.model === model);
  return VERDICTS[filters.verdict].passes(trials, sample, filters)
    && AGREEMENTS[filters.agreement].passes(trials)
    && (!filters.said || trials.some((trial) => (trial.answer ?? NO_ANSWER) === filters.said))
    && (filters.rightModel < 0 || by(filters.rightModel).some((trial) => trial.right))
    && (filters.wrongModel < 0 || by(filters.wrongModel).some((trial) => !trial.right));
}

/** What pictures without a change are called. */
const UNCHANGED = "none";

/** What an answer is called that there is not. */
const NO_ANSWER = "no answer";
