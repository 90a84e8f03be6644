"use strict";
/* Draws the charts of a report: unpacks Plotly, which the file carries, and follows the reader's theme and printer. */
(async () => {
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const PRINT_WIDTH_PX = 680;
  const CONFIG = { responsive: true, displayModeBar: false };

  async function unpack(element) {
    const packed = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function draw(figure, { printed = false } = {}) {
    const grounds = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
    const isDark = dark.matches && !printed;
    const { data, layout } = isDark ? grounds[grounds.length - 1] : grounds[0];
    layout.font = { color: color(isDark ? "--dark-ink" : "--light-ink") };
    layout.hoverlabel = { bgcolor: color(isDark ? "--dark-page" : "--light-page"), font: layout.font };
    layout.dragmode = false;
    if (printed) layout.width = PRINT_WIDTH_PX;
    Plotly.react(figure.querySelector(".plot"), data, layout, CONFIG);
    figure.classList.add("drawn");
  }

  const script = document.createElement("script");
  script.textContent = await unpack(document.getElementById("plotly"));
  document.head.append(script);
  const drawAll = (how) => figures.forEach((figure) => draw(figure, how));
  drawAll();
  dark.addEventListener("change", () => drawAll());
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    unfolded.forEach((details) => (details.open = true));
    drawAll({ printed: true });
  });
  addEventListener("afterprint", () => {
    unfolded.forEach((details) => (details.open = false));
    drawAll();
  });
  document.documentElement.dataset.drawn = figures.length;
})();
