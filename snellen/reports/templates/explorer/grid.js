/* A grid of which only the visible rows are in the document, so that ten thousand tiles cost what thirty do. */

const GAP = 8;
const SPARE_ROWS = 2;
const PAGE_ROWS = 3;

/**
 * The grid. It keeps the focus itself and names the active tile (`aria-activedescendant`): a tile that is scrolled out
 * of the document takes no focus with it.
 */
class VirtualGrid {
  #box; #inner; #makeTile; #open;
  #items = []; #width = 0; #columns = 1; #rowHeight = 1; #active = 0; #rows = new Map();
  #waiting = false; #printing = false;

  /**
   * @param {HTMLElement} box The scrolled element, with role "grid".
   * @param {(item: object) => HTMLElement} makeTile Makes the tile of an item.
   * @param {(place: number) => void} open Opens the item at a place.
   */
  constructor(box, makeTile, open) {
    this.#box = box;
    this.#makeTile = makeTile;
    this.#open = open;
    this.#inner = element("div.tiles", { role: "presentation" });
    box.replaceChildren(this.#inner);
    box.addEventListener("scroll", () => this.#renderSoon(), { passive: true });
    box.addEventListener("keydown", (event) => this.#onKey(event));
    box.addEventListener("click", (event) => this.#onClick(event));
    new ResizeObserver(() => this.#onResize()).observe(box);
  }

  /** The items that are shown. */
  get items() {
    return this.#items;
  }

  /** Show other items, from the first one. `width` is the least that a tile needs, in pixels. */
  show(items, width) {
    this.#items = items;
    this.#width = width;
    this.#active = 0;
    this.#box.scrollTop = 0;
    this.#layOut();
  }

  /** Make the tile at a place the active one, and scroll it into view. */
  activate(place) {
    if (!this.#items.length) return;
    this.#active = Math.min(Math.max(place, 0), this.#items.length - 1);
    const top = Math.floor(this.#active / this.#columns) * this.#rowHeight;
    const bottom = top + this.#rowHeight;
    const lowest = bottom - this.#box.clientHeight;
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    else if (this.#box.scrollTop < lowest) this.#box.scrollTop = lowest;
    this.#render();
    this.#mark();
  }

  /** Render the first items, as many as are wanted, whatever is visible: for print. */
  printed(most) {
    this.#printing = true;
    this.#rows.clear();
    const rows = [];
    for (let row = 0; row * this.#columns < Math.min(most, this.#items.length); row += 1) rows.push(this.#makeRow(row));
    this.#inner.replaceChildren(...rows);
  }

  /** Render what is visible again, after print. */
  restored() {
    this.#printing = false;
    this.#layOut();
  }

  #onResize() {
    if (this.#items.length && this.#box.clientWidth && !this.#printing) this.#layOut();
  }

  #layOut() {
    this.#rows.clear();
    this.#inner.replaceChildren();
    const room = this.#inner.clientWidth;
    this.#columns = Math.max(Math.floor((room + GAP) / (this.#width + GAP)), 1);
    this.#box.setAttribute("aria-colcount", this.#columns);
    this.#box.setAttribute("aria-rowcount", this.#rowCount());
    if (!this.#items.length) {
      this.#inner.style.height = "0";
      this.#box.removeAttribute("aria-activedescendant");
      return;
    }
    // All tiles are equally high: one is measured.
    const sample = this.#makeRow(0);
    this.#inner.append(sample);
    this.#rowHeight = sample.offsetHeight + GAP;
    sample.remove();
    this.#inner.style.height = `${this.#rowCount() * this.#rowHeight}px`;
    this.#render();
    this.#mark();
  }

  #rowCount() {
    return Math.ceil(this.#items.length / this.#columns);
  }

  #renderSoon() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      this.#render();
      this.#mark();
    });
  }

  #render() {
    const first = Math.max(Math.floor(this.#box.scrollTop / this.#rowHeight) - SPARE_ROWS, 0);
    const shown = Math.ceil(this.#box.clientHeight / this.#rowHeight) + 2 * SPARE_ROWS;
    const last = Math.min(first + shown, this.#rowCount() - 1);
    for (const [row, made] of this.#rows) {
      if (row < first || row > last) {
        made.remove();
        this.#rows.delete(row);
      }
    }
    for (let row = first; row <= last; row += 1) {
      if (this.#rows.has(row)) continue;
      const made = this.#makeRow(row);
      made.style.transform = `translateY(${row * this.#rowHeight}px)`;
      this.#rows.set(row, made);
      this.#inner.append(made);
    }
  }

  #makeRow(row) {
    const begun = row * this.#columns;
    const tiles = this.#items.slice(begun, begun + this.#columns).map((item, column) => {
      const tile = this.#makeTile(item);
      tile.id = `tile-${begun + column}`;
      tile.dataset.place = begun + column;
      tile.setAttribute("role", "gridcell");
      tile.setAttribute("aria-colindex", column + 1);
      return tile;
    });
    const made = element("div.tile-row", { role: "row", "aria-rowindex": row + 1 }, ...tiles);
    made.style.gridTemplateColumns = `repeat(${this.#columns}, minmax(0, 1fr))`;
    return made;
  }

  #mark() {
    this.#inner.querySelector(".active")?.classList.remove("active");
    const tile = document.getElementById(`tile-${this.#active}`);
    tile?.classList.add("active");
    if (tile) this.#box.setAttribute("aria-activedescendant", tile.id);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = {
      ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.#columns, ArrowDown: this.#columns,
      PageUp: -PAGE_ROWS * this.#columns, PageDown: PAGE_ROWS * this.#columns,
      Home: -this.#items.length, End: this.#items.length,
    };
    if (event.key in moves) this.activate(this.#active + moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.#items.length && this.#open(this.#active);
    else return;
    event.preventDefault();
  }

  #onClick(event) {
    const tile = event.target.closest("[data-place]");
    if (!tile) return;
    this.activate(Number(tile.dataset.place));
    this.#open(this.#active);
  }
}
