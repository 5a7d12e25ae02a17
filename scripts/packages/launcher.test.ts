import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { launcher } from './launcher.ts'

test('a Node that is too old is told so in one line, before anything of the program is read', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gyro-launcher-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['bin', 'dist']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'dist', 'gyro.js'), "console.log('started')")
  const command = join(folder, 'bin', 'gyro.js')
  writeFileSync(command, launcher('gyro', 'gyro'))
  const startedBy = (version: string) => {
    const versions = `{ value: { node: '${version}' } }`
    const disguise = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions});Object.defineProperty(process, 'version', { value: 'v${version}' })`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', disguise, command],
      { encoding: 'utf8' },
    )
    return { status, stdout, stderr }
  }
  for (const version of ['20.20.2', '22.17.1'])
    assert.deepEqual(startedBy(version), {
      status: 1,
      stdout: '',
      stderr: `gyro: Node 22.18 or newer is needed, and this is v${version}\n`,
    })
  for (const version of ['22.18.0', '24.0.0', '100.1.0'])
    assert.equal(startedBy(version).stdout, 'started\n')
})
