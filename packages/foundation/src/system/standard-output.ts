import { errorText } from '../errors.ts'

/**
 * What becomes of a program whose output is not taken, where Node would end it with the trace of an unhandled error. A reader that has
 * seen enough, such as head, is no failure: what is under way goes on to its end and its exit code. A full disk is one where it
 * was asked for something: told once, exit code 1 unless the program ends with another. Of what goes to stderr nobody can be told.
 */
export function tolerateLostOutput(program: string): void {
  let isTold = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isTold) return
    isTold = true
    process.exitCode ||= 1
    process.stderr.write(`${program}: cannot write what was asked for: ${errorText(error)}\n`)
  })
  process.stderr.on('error', () => {})
}
