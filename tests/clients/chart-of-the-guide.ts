import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { finished, kubectlBinary, repository } from '../end-to-end/gyro-process.ts'
import { findClient, runClient } from './client-process.ts'
import { commandsOf, writeFilesOf } from './guide-blocks.ts'

const GUIDE = 'test-helm-charts.md'

export async function testChartOfTheGuide(helm: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'))
  try {
    writeFilesOf(GUIDE, folder)
    const programs = join(folder, 'bin')
    mkdirSync(programs)
    // The kubectl under test, by the name that the guide uses.
    symlinkSync(pathOf(kubectlBinary), join(programs, 'kubectl'))
    const path = [programs, dirname(findClient(helm)), join(repository, 'bin')].join(delimiter)
    const env = {
      ...process.env,
      PATH: `${path}${delimiter}${process.env['PATH']}`,
      HOME: folder,
    }
    const [command = ''] = commandsOf(GUIDE)
    const { code, text } = await runClient('bash', ['-c', command], env, folder)
    assert.equal(code, 0, text)
    assert.match(text, /^the chart works$/m)
    for (const status of [/^1 .*superseded/m, /^3 .*failed/m, /^4 .*deployed .*Rollback to 2/m])
      assert.match(text, status)
    assert.match(text, /Voucher.* is invalid: spec.percent/)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function pathOf(command: string): string {
  return isAbsolute(command)
    ? command
    : finished('sh', ['-c', `command -v ${command}`]).stdout.trim()
}
