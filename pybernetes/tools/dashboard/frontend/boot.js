// Loads the rest. Browsers give requests up when a network of the machine comes or goes, and never ask for a module again: then the
// page is loaded anew.

const PAUSE = 1000;

import("./main.js").catch((error) => {
  console.error(error);
  setTimeout(() => location.reload(), PAUSE);
});
