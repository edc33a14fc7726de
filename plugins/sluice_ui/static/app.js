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
