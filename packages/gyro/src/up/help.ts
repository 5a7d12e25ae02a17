import type { FlagDefinition } from '@gyropilot/manager/flags'
import { upFlags } from './up-flags.ts'

const INTRODUCTION = `Starts a Kubernetes cluster in this process: an API server that kubectl understands, the control loops, a scheduler and
simulated nodes whose pods run without containers. Prints the line to copy and tells what happens until Ctrl-C.

Examples:
  gyro up                                        a cluster on port 6443, gone when it ends
  gyro up --port 0 --kubeconfig ./kubeconfig     any free port; the kubeconfig tells which
  gyro up --data-dir ./cluster                   the same cluster again next time
  gyro up --managers 3                           three controller managers that elect a leader; kill it and see
  gyro up --components api-server                the API server alone

Usage:
  gyro up [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return `${INTRODUCTION}${flagLines(upFlags, columns)}`
}

/** One entry per flag, its help wrapped beside it. */
export function flagLines(flags: readonly FlagDefinition[], columns: number): string {
  const width = Math.max(...flags.map(({ name, type }) => `--${name} ${type}`.length))
  const indent = ' '.repeat(width + 8)
  const lines = flags.map(({ name, shorthand, type, default: preset, help }) => {
    const value = type === 'bool' ? '' : ` ${type}`
    const flag = `  ${shorthand ? `-${shorthand}, ` : '    '}--${name}${value}`.padEnd(width + 8)
    const usual = preset === '' || preset === 'false' ? '' : ` Default: ${preset}.`
    return `${flag}${wrapped(`${help}${usual}`, indent, Math.max(columns, 80))}\n`
  })
  return lines.join('')
}

/** Lines behind the first begin with `indent`, which also stands before the first. */
export function wrapped(text: string, indent: string, columns: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join(`\n${indent}`)
}
