/** The commands that connect: known where a container has a network. Contract: docs/behaviour/simulation/kubelet.md, Network. */
import type { Command } from '../shell/process.ts'
import { curl } from './curl.ts'
import { dig } from './dig.ts'
import { getent } from './getent.ts'
import { netcat } from './netcat.ts'
import { nslookup } from './nslookup.ts'
import { wget } from './wget.ts'

export const NETWORK_COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['curl', curl],
  ['dig', dig],
  ['getent', getent],
  ['nc', netcat],
  ['nslookup', nslookup],
  ['wget', wget],
])

/**
 * Whether a command line has one of them in it. What such a program prints depends on what it met, and cannot be found out
 * afterwards.
 */
export function connects(words: readonly string[]): boolean {
  return words.some((word) =>
    /(?<![\w.-])(?:curl|dig|getent|nc|nslookup|wget)(?![\w.-])/.test(word),
  )
}
