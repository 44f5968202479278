"use strict";
document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = document.getElementById("said"), field = document.getElementById("token");
  said.textContent = "";
  try {
    const answer = await fetch("session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token: field.value }) });
    if (answer.ok) { location.reload(); return; }
    said.textContent = answer.status === 401 ? "This is not the token." : answer.status === 429 ? "Too many wrong tokens. Wait a minute." : "The server answered " + answer.status + ".";
  } catch { said.textContent = "The server does not answer."; }
  field.select();
});
