/** docs/guides/test-with-python.md, word for word. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../../end-to-end/gyro-process.ts'
import { findClient, runClient } from '../client-process.ts'
import { commandsOf, writeFilesOf } from '../guide-blocks.ts'

test('the fixture and the tests of test-with-python.md', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'python-guide-'))
  try {
    writeFilesOf('test-with-python.md', folder)
    const [command = ''] = commandsOf('test-with-python.md')
    assert.equal(command, 'python3 -m pytest\n')
    const env = {
      ...process.env,
      PATH: `${join(repository, 'bin')}${delimiter}${process.env['PATH']}`,
      PYTHONPATH: findClient('python'),
    }
    const { code, text } = await runClient('sh', ['-c', command], env, folder)
    assert.equal(code, 0, text)
    assert.match(text, /3 passed/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
