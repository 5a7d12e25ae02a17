/** What is of the script that runs, and of no program, and needs nothing of how scripts run. */
import { Return } from './definitions.ts'
import type { Shell } from './definitions.ts'

/** Of the function that runs, and of what it calls. */
export function local(args: readonly string[], { defined, environment }: Shell): number {
  for (const arg of args) {
    const [name = '', ...value] = arg.split('=')
    defined.keep(name, environment)
    environment.set(name, value.join('='))
  }
  return 0
}

export function leave([code]: readonly string[], _: Shell, lastExitCode: number): never {
  throw new Return(code === undefined ? lastExitCode : Number(code) & 255)
}

export function shift([count = '1']: readonly string[], { defined }: Shell): number {
  if (Number(count) > defined.parameters.length) return 1
  defined.parameters = defined.parameters.slice(Number(count))
  return 0
}
