// Pages work without this file: it adds keys, "select all", previews in place and highlights.
"use strict";

// Inside Airflow's frame a link to Airflow itself must move the outer window, which the frame's sandbox lets a script do.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-outer]");
  if (link && window.top !== window.self) {
    event.preventDefault();
    window.parent.location.assign(link.href);
  }
});

// Filters take effect when they are changed.
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  if (event.target.matches("[data-all]")) {
    for (const box of event.target.closest("table").querySelectorAll("tbody input[type=checkbox]")) box.checked = event.target.checked;
  }
});

// What cannot be taken back by one click is asked about.
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button) return;
  if (button.dataset.confirm && !window.confirm(button.dataset.confirm)) event.preventDefault();
});

// Keys: j and k move, x selects, Enter opens, r goes to the reason; elements with data-key answer to their letter.
const typing = (target) => target.matches("input:not([type=checkbox]), textarea, select");
function moveRow(step) {
  const rows = [...document.querySelectorAll("[data-keys] tbody tr")];
  const chunks = rows.length ? rows : [...document.querySelectorAll("[data-chunks] .chunk")];
  if (!chunks.length) return;
  const at = chunks.findIndex((one) => one.classList.contains("at"));
  const next = chunks[Math.min(Math.max(at + step, 0), chunks.length - 1)];
  if (rows.length) {
    for (const one of rows) one.classList.toggle("at", one === next);
    next.scrollIntoView({ block: "nearest" });
  } else {
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
}
document.addEventListener("keydown", (event) => {
  if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const row = document.querySelector("[data-keys] tr.at");
  if (event.key === "j") moveRow(1);
  else if (event.key === "k") moveRow(-1);
  else if (event.key === "x" && row) row.querySelector("input[type=checkbox]")?.click();
  else if (event.key === "Enter" && row && event.target === document.body) row.querySelector("a")?.click();
  else if (event.key === "r") { document.querySelector("input[name=reason]")?.focus(); event.preventDefault(); }
  else document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});

// The page image and the chunks beside it point at each other.
for (const sheet of document.querySelectorAll("[data-sheet]")) {
  const image = sheet.querySelector("img");
  const turn = (page) => {
    const last = Number(sheet.dataset.pages) || 1;
    const at = Math.min(Math.max(page, 1), last);
    if (Number(image.dataset.page) !== at || !image.src) {
      image.dataset.page = at;
      image.src = sheet.dataset.src.replace(/0\.png$/, `${at}.png`);
    }
    sheet.querySelector("[data-at]").textContent = at;
    for (const one of sheet.querySelectorAll(".places")) one.toggleAttribute("hidden", Number(one.dataset.page) !== at);
  };
  const point = (chunk, scroll) => {
    for (const one of document.querySelectorAll("[data-chunk]")) one.classList.toggle("at", one.dataset.chunk === chunk);
    const place = sheet.querySelector(`rect[data-chunk="${CSS.escape(chunk)}"]`);
    if (place) turn(Number(place.closest(".places").dataset.page));
    if (scroll) document.getElementById(`c-${chunk}`)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    else place?.scrollIntoView({ block: "nearest" });
  };
  turn(Number(image.dataset.page));
  sheet.addEventListener("click", (event) => {
    const button = event.target.closest("[data-turn]");
    if (button) turn(Number(image.dataset.page) + Number(button.dataset.turn));
    const place = event.target.closest("rect[data-chunk]");
    if (place) point(place.dataset.chunk, true);
  });
  document.addEventListener("focusin", (event) => {
    const chunk = event.target.closest(".chunk");
    if (chunk) point(chunk.dataset.chunk, false);
  });
}
