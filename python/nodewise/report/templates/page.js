(function () {
  "use strict";
  var tip = document.getElementById("tip");
  function markOf(event) {
    var mark = event.target.closest && event.target.closest("[role=graphics-symbol][aria-label]");
    return mark && mark.closest(".chart") ? mark : null;
  }
  function show(event) {
    var mark = markOf(event);
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("aria-label");
    var x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    var y = event.clientY + 18;
    if (y + tip.offsetHeight > window.innerHeight) y = event.clientY - tip.offsetHeight - 12;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = y + "px";
  }
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", function () { tip.hidden = true; }, true);
})();
