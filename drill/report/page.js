// Shows what a mark of the picture says: on hover, on tap, and for what the keyboard reaches. Without it the texts are read by screen readers only.
const words = document.getElementById("words");
const show = (event) => {
  const mark = event.target.closest && event.target.closest("figure [aria-label]");
  words.hidden = !mark;
  if (!mark) return;
  words.textContent = mark.getAttribute("aria-label");
  const box = words.getBoundingClientRect();
  words.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - box.width - 4)) + "px";
  words.style.top = (event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 12 : event.clientY + 16) + "px";
};
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
document.addEventListener("scroll", () => { words.hidden = true; }, { passive: true });
