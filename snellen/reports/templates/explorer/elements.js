/* Elements of the page: all texts are set as texts, never read as HTML. */

/**
 * Make an element.
 * @param {string} tag Its name, with classes behind dots: "td.right".
 * @param {object} attributes Attributes; functions are listeners, by the name of the event.
 * @param {(Node|string)[]} children What is in it.
 */
function element(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Fill a list of choices: pairs of a value and its text. */
function fillSelect(select, options) {
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
}

/** Make the image of an embedded picture; where it is gone, a note. */
function pictureElement(pictures, number, label) {
  const content = number < 0 ? "" : pictures[number];
  if (!content) return element("span.gone", { role: "img", "aria-label": `${label} (picture gone)` }, "picture gone");
  const src = `data:image/webp;base64,${content}`;
  return element("img", { src, alt: label, decoding: "async", draggable: "false" });
}

/** Round a share to whole percents as the report does: of two that are as near, the even one. */
function wholePercents(share) {
  const [below, rest] = [Math.floor(100 * share), (100 * share) % 1];
  return rest === 0.5 ? below + (below % 2) : Math.round(100 * share);
}

/** Write a share for people. */
function percent(share) {
  return `${wholePercents(share)} %`;
}

/** Write a share as a length of CSS. */
function length(share) {
  return `${100 * share}%`;
}

/** Write a number for people. */
function counting(number) {
  return number.toLocaleString("en");
}
