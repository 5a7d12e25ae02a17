import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scenarioNamed, scenariosNamed } from './scenario-file.ts'

test('a part of a name is enough where only one has it', async () => {
  assert.equal((await scenarioNamed('recreates')).name, 'a Deployment recreates its pods')
  assert.equal((await scenariosNamed('a Deployment is deleted')).length, 3)
  await assert.rejects(scenarioNamed('a Deployment is deleted'), {
    code: 'SCENARIO_UNUSABLE',
    message: /is a part of several names: .*: "a Deployment is deleted with Background", "a /,
  })
})
