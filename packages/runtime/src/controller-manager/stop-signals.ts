/** The part of Node's `process` that is needed. */
interface SignalledProcess {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  exit(code: number): unknown
}

/** Aborts at the first SIGINT or SIGTERM; the second ends the process with exit code 1. */
export function stopSignal(program: SignalledProcess): AbortSignal {
  const stop = new AbortController()
  const onSignal = (): void => {
    if (stop.signal.aborted) program.exit(1)
    else stop.abort(new Error('a signal asked to stop'))
  }
  program.on('SIGINT', onSignal)
  program.on('SIGTERM', onSignal)
  return stop.signal
}
