// Starts everything. Modules are deferred, so the page is there.

import * as composer from "./composer.js";
import { fillMoments } from "./form.js";
import * as live from "./live.js";
import * as modal from "./modal.js";
import * as panel from "./panel.js";
import * as press from "./press.js";
import { localise } from "./times.js";
import { me } from "./control.js";

for (const part of [composer, live, modal, panel, press]) part.listen();
localise(document);
fillMoments(document);
modal.settle();
live.toEnd();
if (document.getElementById("home")) fetch(`/sandbox/home?user=${encodeURIComponent(me())}`);
panel.refreshPanel();
live.follow();
