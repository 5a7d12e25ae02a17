/**
 * `nsenter ... -- COMMAND` into the namespaces of a node's first process: the command runs on the machine, with its files and with
 * what prepares its disks. Contract: docs/behaviour/simulation/kubelet.md, Commands on the node.
 */
import { absolute } from '../files/file-tree.ts'
import { run } from '../shell/run-command.ts'
import type { Machine } from '../shell/machine.ts'
import type { Command, Process } from '../shell/process.ts'

const REFUSED_EXIT_CODE = 1

export const enterMachine: Command = async (task) => {
  const { machine } = task.place
  const words = commandOf(task.args)
  if (words === undefined) {
    task.place.onUnknown?.(`nsenter ${task.args.join(' ')}`)
    await task.err(
      'nsenter: simulated containers enter the first process: nsenter -t 1 -m -- COMMAND\n',
    )
    return REFUSED_EXIT_CODE
  }
  if (machine === undefined) {
    await task.err('nsenter: reassociate to namespaces failed: Operation not permitted\n')
    return REFUSED_EXIT_CODE
  }
  const commands = new Map([...task.place.commands, ...commandsOf(machine)])
  const place = { ...task.place, commands, files: machine.files() }
  return run(words, { ...task, place, folder: { path: '' } })
}

/** What comes behind options that name the first process: by its number, or by its files. */
function commandOf(args: readonly string[]): readonly string[] | undefined {
  const end = args.indexOf('--')
  const isOption = (arg: string, at: number): boolean =>
    arg.startsWith('-') || /^-(?:t|-target)$/.test(args[at - 1] ?? '')
  const count = end === -1 ? args.findIndex((arg, at) => !isOption(arg, at)) : end
  if (count === -1) return undefined
  const options = args.slice(0, count).join(' ')
  const isFirst = /(?:-t|--target)[ =]?1\b/.test(options) || /\/proc\/1\/ns\/mnt/.test(options)
  const words = args.slice(end === -1 ? count : end + 1)
  return isFirst && words.length > 0 ? words : undefined
}

/** They change the machine; the files that a script sees are those from when it entered. */
function commandsOf(machine: Machine): ReadonlyMap<string, Command> {
  const pathOf = ({ folder }: Process, name = ''): string => absolute(name, folder.path)
  const plainOf = (args: readonly string[]): readonly string[] =>
    args.filter((arg) => !arg.startsWith('-'))
  const link: Command = (task) => {
    const [target, path] = plainOf(task.args)
    if (!task.args.includes('-s') || path === undefined) return unknown(task, 'ln')
    machine.lead(pathOf(task, path), pathOf(task, target))
    return 0
  }
  const mount: Command = (task) => {
    const [source, path] = plainOf(withoutValues(task.args))
    if (path === undefined) return unknown(task, 'mount')
    if (task.args.includes('--bind')) machine.lead(pathOf(task, path), pathOf(task, source))
    else machine.mountEmpty(pathOf(task, path))
    return 0
  }
  const remove: Command = (task) => {
    for (const name of plainOf(task.args)) machine.remove(pathOf(task, name))
    return 0
  }
  const loop: Command = async (task) => {
    const [option, name] = task.args
    if (option === '-f' && name !== undefined) {
      const free = Array.from({ length: machine.loops.size + 1 }, (_, number) => number)
      machine.loops.set(
        free.find((number) => !machine.loops.has(number))!,
        pathOf(task, name),
      )
    } else if (option === '-d') machine.loops.delete(Number(/\d+$/.exec(name ?? '')?.[0]))
    else if (option !== undefined) return unknown(task, 'losetup')
    else
      for (const [number, path] of machine.loops)
        await task.out(`/dev/loop${number} 0 0 0 0 ${path} 0 512\n`)
    return 0
  }
  return new Map<string, Command>([
    ['ln', link],
    ['losetup', loop],
    ['mkfs', () => 0],
    ['mkfs.ext4', () => 0],
    ['mount', mount],
    ['rm', remove],
    ['umount', () => 0],
  ])
}

/** `-t tmpfs -o size=10m`: values are no operands. */
function withoutValues(args: readonly string[]): readonly string[] {
  return args.filter((_, at) => !/^-[to]$/.test(args[at - 1] ?? ''))
}

async function unknown(task: Process, name: string): Promise<number> {
  task.place.onUnknown?.(`${name} ${task.args.join(' ')}`)
  await task.err(`${name}: ${task.args.join(' ')} is not known to simulated machines\n`)
  return REFUSED_EXIT_CODE
}
