// Times in the reader's own zone, in the formats of Slack's date syntax (docs.slack.dev, "Date formatting").

const DAY = 24 * 3600 * 1000;

export function localise(root) {
  for (const time of root.querySelectorAll("time[data-unix]")) {
    const moment = new Date(Number(time.dataset.unix) * 1000);
    if (Number.isNaN(moment.getTime())) continue;
    time.textContent = time.dataset.format.replace(/\{(\w+)\}/g, (whole, name) => FORMATS[name]?.(moment) ?? whole);
    time.dateTime = moment.toISOString();
    time.title = moment.toLocaleString();
  }
}

const say = (options) => (moment) => moment.toLocaleString("en-US", options);
const SHORT = say({ month: "short", day: "numeric", year: "numeric" });
const MIDDLE = say({ month: "long", day: "numeric", year: "numeric" });
const LONG = say({ weekday: "long", month: "long", day: "numeric", year: "numeric" });

const FORMATS = {
  date_num: (moment) => [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-"),
  date_slash: (moment) => [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("/"),
  date: MIDDLE,
  date_short: SHORT,
  date_long: LONG,
  date_pretty: (moment) => near(moment) ?? MIDDLE(moment),
  date_short_pretty: (moment) => near(moment) ?? SHORT(moment),
  date_long_pretty: (moment) => near(moment) ?? LONG(moment),
  time: (moment) => `${two(moment.getHours())}:${two(moment.getMinutes())}`,
  time_secs: (moment) => `${FORMATS.time(moment)}:${two(moment.getSeconds())}`,
  ago: (moment) => `${Math.max(0, Math.round((Date.now() - moment) / 60000))} minutes ago`,
};

function near(moment) {
  const midnight = new Date(moment.getFullYear(), moment.getMonth(), moment.getDate());
  const now = new Date();
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return { "-1": "yesterday", 0: "today", 1: "tomorrow" }[Math.round((midnight - today) / DAY)];
}

function two(number) {
  return String(number).padStart(2, "0");
}
