"use strict";
// What lies packed in the page: a blob of what it was.
const unpack = (base64) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).blob();
};
(() => {
  const unpacks = "DecompressionStream" in window;
  // Long tables are unpacked when they are unfolded.
  for (const body of unpacks ? document.querySelectorAll("tbody[data-packed]") : []) {
    body.closest("details").addEventListener("toggle", async () => {
      body.innerHTML = await (await unpack(body.dataset.packed)).text();
      delete body.dataset.packed;
      for (const head of body.closest("table").tHead.rows[0].cells) head.removeAttribute("aria-sort");
    }, { once: true });
  }
  // Packed files are saved unpacked.
  document.addEventListener("click", async (event) => {
    const link = unpacks && event.target.closest("a[download$='.gz']");
    if (!link) return;
    event.preventDefault();
    const file = await unpack(link.href.split(",")[1]);
    const plain = document.createElement("a");
    plain.download = link.download.replace(/\.gz$/, "");
    plain.href = URL.createObjectURL(file);
    plain.click();
    setTimeout(() => URL.revokeObjectURL(plain.href), 60000);
  });

  // Tables: a click or the keyboard on a head sorts; missing values always stand last.
  const key = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.order;
    if (given !== undefined && given !== "" && Number.isFinite(Number(given))) return Number(given);
    const text = cell.firstChild ? cell.textContent.trim() : "";
    return given === undefined && cell.classList.contains("text") ? text : null;
  };
  const compare = (a, b, direction) => {
    if (a === null || a === "") return b === null || b === "" ? 0 : 1;
    if (b === null || b === "") return -1;
    const order = typeof a === "number" && typeof b === "number"
      ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return direction * order;
  };
  const sort = (head) => {
    const table = head.closest("table");
    const column = head.cellIndex;
    const descending = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, place) => ({ row, place, key: key(row, column) }));
    rows.sort((a, b) => compare(a.key, b.key, descending ? -1 : 1) || a.place - b.place);
    for (const { row } of rows) { row.classList.remove("start"); body.append(row); }
  };
  for (const button of document.querySelectorAll("table.data th button")) {
    button.addEventListener("click", () => sort(button.closest("th")));
  }

  // Tooltips: a word tells what it means, the nearest mark within a finger's reach its value.
  const tip = document.getElementById("tip");
  const reach = 14;
  const places = new WeakMap();
  let lit = null;
  const marks = (svg) => {
    const box = svg.getBoundingClientRect();
    const known = places.get(svg);
    if (known && known.width === box.width) return known.marks;
    const found = [...svg.querySelectorAll("[data-tip]")].map((node) => {
      const own = node.getBoundingClientRect();
      return { node, x: own.x + own.width / 2 - box.x, y: own.y + own.height / 2 - box.y };
    });
    places.set(svg, { width: box.width, marks: found });
    return found;
  };
  const words = "th [data-tip], td[data-tip], a.term, [data-term]";
  const meaning = (word) => {
    if (word.dataset.tip) return word.dataset.tip;
    const entry = document.getElementById(word.dataset.term || word.hash.slice(1));
    return `${entry.querySelector("dt").textContent}: ${entry.querySelector("dd").textContent}`;
  };
  const hide = () => {
    tip.hidden = true;
    if (lit) { lit.classList.remove("hit"); lit.removeAttribute("aria-describedby"); }
    lit = null;
  };
  const tell = (word, at) => {
    if (lit !== word) { hide(); lit = word; }
    place(meaning(word), at);
  };
  const show = (event) => {
    const word = event.target.closest(words);
    if (word) return tell(word, event);
    const svg = event.target.closest(".panels > svg");
    if (!svg) return hide();
    const box = svg.getBoundingClientRect();
    let best = null, least = reach;
    for (const mark of marks(svg)) {
      const away = Math.hypot(event.clientX - box.x - mark.x, event.clientY - box.y - mark.y);
      if (away <= least) { least = away; best = mark; }
    }
    if (!best) return hide();
    if (lit !== best.node) { hide(); lit = best.node; lit.classList.add("hit"); }
    place(best.node.dataset.tip, event);
  };
  const place = (text, event) => {
    tip.textContent = text;
    tip.hidden = false;
    const left = window.scrollX + Math.min(event.clientX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    const above = event.clientY - tip.offsetHeight - 12;
    tip.style.top = `${window.scrollY + (above < 0 ? event.clientY + 28 : above)}px`;
  };
  document.addEventListener("pointermove", show, { passive: true });
  // A finger's first touch explains the word, the second follows its link to the glossary.
  let follows = true;
  document.addEventListener("pointerdown", (event) => {
    follows = event.pointerType !== "touch" || event.target.closest(words) === lit;
    show(event);
  }, { passive: true });
  document.addEventListener("click", (event) => {
    if (!follows && event.target.closest("a.term")) event.preventDefault();
    follows = true;
  });
  document.addEventListener("focusin", (event) => {
    const word = event.target.closest("th [data-tip], a.term");
    if (!word || !word.matches(":focus-visible")) return;
    const box = word.getBoundingClientRect();
    tell(word, { clientX: box.left, clientY: box.top });
    word.setAttribute("aria-describedby", tip.id);
  });
  // A tap elsewhere takes the focus after it has told something else.
  document.addEventListener("focusout", (event) => { if (event.target === lit) hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // Ranks and nodes chosen in one figure are chosen in every figure that has them.
  document.addEventListener("change", (event) => {
    const name = event.target.dataset.choice;
    if (!name) return;
    const top = event.target.getBoundingClientRect().top;
    for (const other of document.querySelectorAll("input[data-choice]")) {
      if (other.dataset.choice === name) other.checked = true;
    }
    window.scrollBy(0, event.target.getBoundingClientRect().top - top);
  });

  // A layer's strip chooses which of its probes is shown; whatever leads to another one chooses it.
  const choose = (probe) => {
    const layer = probe.parentElement;
    if (!layer.querySelector(".strip a")) return;
    for (const other of layer.querySelectorAll(":scope > .probe")) {
      if (other === probe) other.removeAttribute("hidden");
      else other.setAttribute("hidden", "until-found");
    }
    for (const row of layer.querySelectorAll(".strip tbody tr")) {
      row.classList.toggle("chosen", Boolean(row.querySelector(`a[href="#${probe.id}"]`)));
    }
  };
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const probe = target && target.closest(".probe");
    if (probe) { choose(probe); target.scrollIntoView(); }
  };
  for (const probe of document.querySelectorAll(".probe[data-worst]")) choose(probe);
  document.addEventListener("beforematch", (event) => {
    const probe = event.target.closest(".probe");
    if (probe) choose(probe);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".strip a");
    if (!link) return;
    event.preventDefault();
    choose(document.getElementById(link.hash.slice(1)));
    history.replaceState(null, "", link.hash);
  });
  window.addEventListener("hashchange", follow);
  follow();

  // Contents: the section being read.
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const id of links.keys()) {
    const target = document.getElementById(id);
    if (target && target.tagName === "SECTION") seen.observe(target);
  }
})();
