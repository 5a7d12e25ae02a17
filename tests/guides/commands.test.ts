/** What README and guides tell people to type exists: commands, and the flags that they are given. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../end-to-end/gyro-process.ts'
import { commands } from '../../packages/gyro/src/commands.ts'

const guides = readdirSync(join(repository, 'docs/guides')).map((name) => `docs/guides/${name}`)
const pages = ['README.md', ...guides, 'examples/website-operator/README.md']

interface Line {
  readonly page: string
  readonly text: string
}

/** Commands of the blocks for a shell and of code in the text, with lines that end in a backslash put together, without remarks. */
const lines: readonly Line[] = pages.flatMap((page) => {
  const text = readFileSync(join(repository, page), 'utf8')
  const blocks = [...text.matchAll(/^```(?:sh|bash)[^\n]*\n(.*?)^```$/gms)].map(
    ([, block]) => block!,
  )
  const inline = [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)]
  return blocks
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .concat(inline.map(([, code]) => code!))
    .map((line) => ({ page, text: line.replace(/(^|\s)#.*$/, '') }))
})

/** The words behind each call of a program, up to the end of the command. */
function callsOf(program: string): readonly (Line & { readonly words: readonly string[] })[] {
  const call = new RegExp(`(?:^|[\\s(])(?:bin/|npx )?${program}((?: +[^\\s|&;()<>]+)*)`, 'g')
  return lines.flatMap((line) =>
    [...line.text.matchAll(call)].map(([, words = '']) => ({
      ...line,
      words: words.trim().split(/ +/),
    })),
  )
}

const flagsIn = (words: readonly string[]): readonly string[] =>
  words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.slice(2).replace(/=.*$/, ''))

test('each command of gyro that a page shows exists, and so do its flags', async () => {
  const calls = [...callsOf('gyro'), ...callsOf('gyropilot')].filter(({ words }) =>
    /^[a-z]+$/.test(words[0] ?? ''),
  )
  assert.ok(calls.length > 50, String(calls.length))
  for (const { page, text, words } of calls) {
    const command = commands.find(({ name }) => name === words[0])
    assert.ok(command, `${page}: ${text}`)
    const known = new Set(['help', ...((await command.flags?.()) ?? []).map(({ name }) => name)])
    for (const flag of flagsIn(words)) assert.ok(known.has(flag), `${page}: --${flag}: ${text}`)
  }
})

for (const program of ['kube-controller-manager', 'cloud-controller-manager'])
  test(`each flag that a page gives to ${program} exists`, () => {
    const { stdout } = spawnSync(join(repository, 'bin', program), ['--help'], { encoding: 'utf8' })
    const known = new Set([...stdout.matchAll(/--([a-z][a-z0-9-]*)/g)].map(([, flag]) => flag))
    const calls = callsOf(program).filter(({ words }) => words.some((word) => word.startsWith('-')))
    assert.ok(calls.length > 1, String(calls.length))
    for (const { page, text, words } of calls)
      for (const flag of flagsIn(words)) assert.ok(known.has(flag), `${page}: --${flag}: ${text}`)
  })

test('whoever starts the cloud manager by the word of a page says which routes there are', () => {
  const calls = callsOf('cloud-controller-manager').filter(({ words }) =>
    flagsIn(words).includes('kubeconfig'),
  )
  assert.ok(calls.length > 1)
  for (const { page, text, words } of calls)
    assert.ok(
      flagsIn(words).some((flag) => ['cluster-cidr', 'configure-cloud-routes'].includes(flag)),
      `${page}: ${text}`,
    )
})
