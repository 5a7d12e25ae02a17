/** Who a program is and what it runs on: `id`, `uname`. */
import type { Command, Process } from '../shell/process.ts'
import { knownArguments, sayUnknown } from './known-arguments.ts'

export const id: Command = async (task) => {
  const given = await knownArguments(task, 'id', {
    flags: 'ugGnr',
    words: { user: 'u', group: 'g', groups: 'G', name: 'n', real: 'r' },
  })
  if (given === undefined) return 1
  const { uid, gid, groups } = task.place.user
  const kinds = ['u', 'g', 'G'].filter((letter) => given.has(letter))
  if (given.operands.length > 0 || kinds.length > 1) {
    await sayUnknown(task, 'id', task.args.join(' '))
    return 1
  }
  const [kind] = kinds
  const named = (value: number): string => (value === 0 ? '0(root)' : String(value))
  if (kind === undefined) {
    if (!given.has('n') && !given.has('r'))
      return said(task, `uid=${named(uid)} gid=${named(gid)} groups=${groups.map(named).join(',')}`)
    await task.err('id: cannot print only names or real IDs in default format\n')
    return 1
  }
  const wanted = kind === 'u' ? [uid] : kind === 'g' ? [gid] : groups
  if (!given.has('n')) return said(task, wanted.join(' '))
  // Nobody else is in /etc/passwd and /etc/group.
  const strangers = wanted.filter((value) => value !== 0)
  for (const value of strangers)
    await task.err(`id: cannot find name for ${kind === 'u' ? 'user' : 'group'} ID ${value}\n`)
  await said(task, wanted.map((value) => (value === 0 ? 'root' : String(value))).join(' '))
  return strangers.length === 0 ? 0 : 1
}

export const uname: Command = async (task) => {
  const given = await knownArguments(task, 'uname', {
    flags: 'asnrvmpio',
    words: {
      all: 'a',
      'kernel-name': 's',
      nodename: 'n',
      'kernel-release': 'r',
      'kernel-version': 'v',
      machine: 'm',
      processor: 'p',
      'hardware-platform': 'i',
      'operating-system': 'o',
    },
  })
  if (given === undefined) return 1
  // In the order in which they are shown; the kernel is the one of the status of nodes.
  const facts = {
    s: 'Linux',
    n: task.place.hostname,
    r: '6.12.0-simulated',
    v: '#1 SMP',
    m: 'x86_64',
    p: 'unknown',
    i: 'unknown',
    o: 'Linux',
  }
  const shown = Object.entries(facts).filter(([letter, fact]) =>
    given.has('a') ? fact !== 'unknown' : given.has(letter),
  )
  return said(task, shown.map(([, fact]) => fact).join(' ') || facts.s)
}

async function said({ out }: Process, text: string): Promise<number> {
  await out(`${text}\n`)
  return 0
}
