// Preloaded before a test file: a mutant may loop for ever, between two timers of a virtual clock too, and nothing in its own thread
// can notice. A second thread watches the time on the processor, which the load of the machine does not touch: without a mutant it is
// written down, with one the test file fails when it takes far more than that.
const { existsSync, readFileSync, writeFileSync, writeSync } = require('node:fs')
const { join } = require('node:path')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const WATCH_MS = 100
const ALLOWED = { times: 2, plusMs: 1_000 }

function usedMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

if (!isMainThread) {
  setInterval(() => {
    if (usedMs() < workerData.mostMs) return
    // What the runner reads of a test file that ended badly: a failed test, and its own file of results.
    writeSync(1, '\nnot ok 1 - ends\n')
    writeFileSync(`stryker-output-${process.pid}.json`, '{}')
    process.kill(process.pid, 'SIGKILL')
  }, WATCH_MS)
} else {
  const measured = join('usual-times', `${process.argv[1].replaceAll(/[^\w.-]/g, '_')}.json`)
  if (process.env.STRYKER_DRY_RUN === 'true') {
    process.on('exit', () => writeFileSync(measured, JSON.stringify(usedMs())))
  } else if (existsSync(measured)) {
    const usualMs = JSON.parse(readFileSync(measured, 'utf8'))
    const mostMs = ALLOWED.times * usualMs + ALLOWED.plusMs
    new Worker(__filename, { workerData: { mostMs } }).unref()
  }
}
