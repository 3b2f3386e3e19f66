"use strict";
(() => {
  // Figures as files: what the page draws, put together with its title on white paper.
  const colours = JSON.parse(document.body.dataset.colours || "{}");
  const space = "http://www.w3.org/2000/svg";
  const gap = 24, head = 34, line = 14;
  const write = (parent, text, x, y, size, weight, ink) => {
    const node = document.createElementNS(space, "text");
    for (const [name, value] of Object.entries({ x, y, "font-size": `${size}px`, "font-weight": weight, fill: ink })) {
      node.setAttribute(name, value);
    }
    node.textContent = text;
    parent.append(node);
  };
  const lines = (text, characters) => {
    const found = [""];
    for (const word of text.split(" ")) {
      if (found.at(-1) && (found.at(-1) + word).length > characters) found.push("");
      found[found.length - 1] += (found.at(-1) ? " " : "") + word;
    }
    return found;
  };
  const compose = (figure) => {
    const panels = [...figure.querySelectorAll(".panels:not(.slim) > svg")];
    const boxes = panels.map((svg) => svg.viewBox.baseVal);
    const columns = Math.min(2, panels.length);
    const wide = Math.max(...boxes.map((box) => box.width));
    const whole = document.createElementNS(space, "svg");
    let y = head, tallest = 0;
    panels.forEach((svg, index) => {
      if (index % columns === 0 && index) { y += tallest + gap; tallest = 0; }
      const copy = svg.cloneNode(true);
      copy.setAttribute("x", (index % columns) * (wide + gap));
      copy.setAttribute("y", y);
      copy.setAttribute("width", boxes[index].width);
      copy.setAttribute("height", boxes[index].height);
      for (const name of ["role", "aria-label"]) copy.removeAttribute(name);
      for (const mark of copy.querySelectorAll("[data-tip]")) mark.removeAttribute("data-tip");
      for (const title of copy.querySelectorAll("[data-term]")) title.removeAttribute("data-term");
      for (const mark of copy.querySelectorAll(".hit")) mark.classList.remove("hit");
      whole.append(copy);
      tallest = Math.max(tallest, boxes[index].height);
    });
    const width = columns * wide + (columns - 1) * gap;
    y += tallest + gap;
    for (const note of (figure.dataset.notes || "").split("\n").filter(Boolean)) {
      for (const text of lines(note, width / 5.3)) { write(whole, text, 3, y, 10.5, 400, colours.soft); y += line; }
    }
    write(whole, figure.dataset.title, 3, 18, 13, 600, colours.ink);
    const paper = document.createElementNS(space, "rect");
    for (const [name, value] of Object.entries({ width, height: y, fill: colours.paper })) paper.setAttribute(name, value);
    whole.prepend(paper);
    for (const [name, value] of Object.entries({ width, height: y, viewBox: `0 0 ${width} ${y}`, "font-family": "Helvetica, Arial, sans-serif" })) {
      whole.setAttribute(name, value);
    }
    const text = new XMLSerializer().serializeToString(whole).replace(/var\(--(\w+)\)/g, (all, name) => colours[name] || all);
    return { text, width, height: y };
  };
  const save = (name, href) => {
    const link = document.createElement("a");
    link.download = name;
    link.href = href;
    document.body.append(link);
    link.click();
    link.remove();
  };
  const address = (text) => `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  const kinds = {
    SVG: (figure) => save(`${figure.id}.svg`, address(compose(figure).text)),
    PNG: (figure) => {
      const { text, width, height } = compose(figure);
      const image = new Image();
      image.addEventListener("load", () => {
        const canvas = document.createElement("canvas");
        canvas.width = 2 * width;
        canvas.height = 2 * height;
        const pen = canvas.getContext("2d");
        pen.scale(2, 2);
        pen.drawImage(image, 0, 0, width, height);
        save(`${figure.id}.png`, canvas.toDataURL("image/png"));
      });
      image.src = address(text);
    },
  };
  for (const figure of document.querySelectorAll("figure[data-title]")) {
    const place = figure.querySelector(".files");
    if (!place || !figure.querySelector(".panels > svg")) continue;
    for (const [kind, give] of Object.entries(kinds)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", `${kind} of ${figure.dataset.title}`);
      button.addEventListener("click", () => give(figure));
      place.append(" ", button);
    }
  }

  // What a link leads to is never folded away.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details:not([open])");
    if (folded) { folded.open = true; target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", unfold);
  unfold();
})();
