import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commands } from '../commands.ts'
import { completionCommand, completionScript } from './completion.ts'

let bash = ''
let folder = ''
after(() => rmSync(folder, { recursive: true }))
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'))
  bash = await completionScript('bash')
})

/** What bash offers for the last of the words. */
function offered(...words: readonly string[]): readonly string[] {
  const program = `${bash}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gyro
printf '%s\\n' "\${COMPREPLY[@]}"`
  const run = spawnSync('bash', ['--norc', '-euc', program, 'bash', 'gyro', ...words], {
    encoding: 'utf8',
  })
  assert.deepEqual([run.status, run.stderr], [0, ''])
  return run.stdout.split('\n').filter((word) => word !== '')
}

test('bash completes commands, their words, flags and values', () => {
  assert.deepEqual(
    offered(''),
    commands.map(({ name }) => name),
  )
  assert.deepEqual(offered('st'), ['status'])
  assert.deepEqual(offered('node', 's'), ['stop', 'start'])
  assert.deepEqual(offered('completion', ''), ['bash', 'zsh', 'fish'])
  assert.deepEqual(offered('up', '--merge'), ['--merge-kubeconfig'])
  assert.deepEqual(offered('up', '--output', ''), ['text', 'json'])
  assert.deepEqual(offered('up', '--output', '=', 'j'), ['json'])
  assert.deepEqual(offered('check', '--output', ''), ['text', 'json', 'github'])
  assert.deepEqual(offered('check', '-o', 'g'), ['github'])
  assert.deepEqual(offered('up', '--cloud', '='), ['in-memory', 'loopback'])
  assert.deepEqual(offered('up', '--kubeconfig', '/etc/hostn'), ['/etc/hostname'])
  assert.deepEqual(offered('up', '--data-dir', '/usr/bi'), ['/usr/bin'])
  assert.deepEqual(offered('nosuch', ''), [])
})

test('files are offered where a command or a flag takes them, and beside the flags of no other', () => {
  const file = join(folder, 'a manifest.yaml')
  writeFileSync(file, '')
  assert.deepEqual(offered('check', join(folder, 'a')), [file])
  assert.deepEqual(offered('check', '-o', 'json', join(folder, 'a')), [file])
  assert.deepEqual(offered('simulate', '--scenario', join(folder, 'a')), [file])
  assert.deepEqual(offered('envtest', '--kubectl', join(folder, 'a')), [file])
  assert.deepEqual(offered('why', join(folder, 'a')), [])
  assert.deepEqual(offered('check', '--warn'), ['--warnings-as-errors'])
})

test('zsh and fish know which command takes files', async () => {
  const zsh = await completionScript('zsh')
  assert.match(zsh, /^ {4}check\) _arguments '\*:file:_files'/m)
  assert.equal(zsh.match(/'\*:file:_files'/g)?.length, 1)
  const fish = await completionScript('fish')
  assert.match(fish, /^complete -c gyro -n '__fish_seen_subcommand_from check' -F$/m)
  assert.equal(fish.match(/ -F$/gm)?.length, 1)
})

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`the script of ${shell} has every command and flag, and the shell can read it where it is installed`, async () => {
    const script = await completionScript(shell)
    for (const { name, flags } of commands) {
      assert.ok(script.includes(name))
      for (const flag of (await flags?.()) ?? [])
        assert.ok(
          script.includes(shell === 'fish' ? `-l ${flag.name}` : `--${flag.name}`),
          flag.name,
        )
    }
    const file = join(folder, shell)
    writeFileSync(file, script)
    const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
    if (error === undefined) assert.deepEqual([status, stderr], [0, ''])
  })
}

test('another shell is refused in one line', async () => {
  for (const [args, message] of [
    [[], 'say which shell: use gyro completion bash, zsh or fish'],
    [['bsh'], '"bsh" is no shell that is known: did you mean bash?'],
    [
      ['powershell'],
      '"powershell" is no shell that is known: use gyro completion bash, zsh or fish',
    ],
  ] as const)
    await assert.rejects(completionCommand(args), { code: 'COMPLETION_SHELL_UNKNOWN', message })
})
