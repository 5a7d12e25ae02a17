/** `hostname`: the pod's name, or what /etc/hosts has of it: `-i` and `-I` its addresses, `-f` its name in full. */
import { FileError } from '../files/file-error.ts'
import type { Command, Process } from '../shell/process.ts'
import { knownArguments, sayUnknown } from './known-arguments.ts'

const OPTIONS = {
  flags: 'dfiIs',
  words: {
    domain: 'd',
    fqdn: 'f',
    long: 'f',
    'ip-address': 'i',
    'all-ip-addresses': 'I',
    short: 's',
  },
} as const

export const hostname: Command = async (task) => {
  const given = await knownArguments(task, 'hostname', OPTIONS)
  if (given === undefined) return 1
  if (given.operands.length > 0) {
    await sayUnknown(task, 'hostname', given.operands.join(' '))
    return 1
  }
  const name = task.place.hostname
  const asked = ['i', 'I', 'f', 'd'].find((letter) => given.has(letter))
  if (asked === undefined) {
    await task.out(`${given.has('s') ? name.replace(/\..*/, '') : name}\n`)
    return 0
  }
  const rows = await rowsOf(task, name)
  // All addresses there are do not need a name.
  if (rows.length === 0 && asked !== 'I') {
    await task.err(`hostname: ${name}: Unknown host\n`)
    return 1
  }
  const full = rows[0]?.[1] ?? name
  const texts: Readonly<Record<string, string>> = {
    f: full,
    d: full.split('.').slice(1).join('.'),
  }
  await task.out(`${texts[asked] ?? rows.map(([address]) => address).join(' ')}\n`)
  return 0
}

/** An address, its name in full, and others: those that have the name. */
async function rowsOf({ place }: Process, name: string): Promise<readonly (readonly string[])[]> {
  try {
    const text = Buffer.from(await place.files.read('/etc/hosts')).toString()
    return text
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
      .filter(([, ...names]) => names.includes(name))
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return []
  }
}
