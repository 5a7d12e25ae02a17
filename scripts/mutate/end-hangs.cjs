// Preloaded before a test file, which with a mutant may never end. Time is no measure of that on a busy machine; work is.
//
// It may loop for ever, between two timers of a virtual clock too, and nothing in its own thread can notice: a second thread watches the
// time on the processor. Without a mutant it is written down, with one the file fails when it takes far more than that.
//
// Or it may wait for ever: node's test runner keeps the process alive for a test whose promise nobody settles. The file fails when its
// thread had nothing to do for many looks on end.
const { existsSync, readFileSync, writeFileSync, writeSync } = require('node:fs')
const { join } = require('node:path')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const LOOK_MS = 100
const ALLOWED = { times: 2, plusMs: 1_000, idleLooks: 20 }
/** What the looks themselves cost. */
const IDLE_MS = 5

function usedMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** What the runner reads of a test file that ended badly: a failed test, and its own file of results. */
function fail() {
  writeSync(1, '\nnot ok 1 - ends\n')
  writeFileSync(`stryker-output-${process.pid}.json`, '{}')
  process.kill(process.pid, 'SIGKILL')
}

if (!isMainThread) {
  setInterval(() => {
    if (usedMs() >= workerData.mostMs) fail()
  }, LOOK_MS)
} else {
  const measured = join('usual-times', `${process.argv[1].replaceAll(/[^\w.-]/g, '_')}.json`)
  if (process.env.STRYKER_DRY_RUN === 'true') {
    process.on('exit', () => writeFileSync(measured, JSON.stringify(usedMs())))
  } else if (existsSync(measured)) {
    const usualMs = JSON.parse(readFileSync(measured, 'utf8'))
    const mostMs = ALLOWED.times * usualMs + ALLOWED.plusMs
    new Worker(__filename, { workerData: { mostMs } }).unref()
    let [lastMs, idle] = [0, 0]
    setInterval(() => {
      const nowMs = usedMs()
      idle = nowMs - lastMs < IDLE_MS ? idle + 1 : 0
      lastMs = nowMs
      if (idle >= ALLOWED.idleLooks) fail()
    }, LOOK_MS).unref()
  }
}
