import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLeaderMigration, lockOf, parseLeaderMigration } from './leader-migration.ts'
import type { Lock } from './leader-migration.ts'

const parse = (text: string) => parseLeaderMigration(text, '/etc/migration.yaml')
const head = (version = 'v1') =>
  `apiVersion: controllermanager.config.k8s.io/${version}\nkind: LeaderMigrationConfiguration\n`

const COMPONENT = 'kube-controller-manager'

test('Given a migration config, when each controller is filtered, then main, migration or unowned as above', async () => {
  const migration = await parse(`${head()}leaderName: move
controllerLeaders:
- {name: ttl-controller, component: '*'}
- {name: job-controller, component: kube-controller-manager}
- {name: node-lifecycle-controller, component: cloud-controller-manager}
`)
  const expected: Record<string, Lock> = {
    'deployment-controller': 'main',
    'ttl-controller': 'migration',
    'job-controller': 'migration',
    'node-lifecycle-controller': 'not-run-here',
  }
  for (const [name, lock] of Object.entries(expected))
    assert.equal(lockOf(migration, name, COMPONENT), lock)
})

test('the default moves one controller of today, and that one is a cloud loop', () => {
  assert.equal(defaultLeaderMigration.leaderName, 'cloud-provider-extraction-migration')
  assert.equal(
    lockOf(defaultLeaderMigration, 'cloud-node-lifecycle-controller', COMPONENT),
    'migration',
  )
  for (const name of ['service-lb-controller', 'node-route-controller', 'job-controller']) {
    assert.equal(lockOf(defaultLeaderMigration, name, COMPONENT), 'main')
  }
})

test('all three versions are read, in JSON too, and leases is the default lock', async () => {
  for (const version of ['v1', 'v1beta1', 'v1alpha1']) {
    assert.deepEqual(await parse(`${head(version)}leaderName: move\n`), {
      leaderName: 'move',
      resourceLock: 'leases',
      controllerLeaders: [],
    })
  }
  const json = JSON.stringify({
    apiVersion: 'controllermanager.config.k8s.io/v1',
    kind: 'LeaderMigrationConfiguration',
    leaderName: 'move',
  })
  assert.equal((await parse(json)).leaderName, 'move')
})

const refused: readonly (readonly [string, RegExp])[] = [
  [`${head('v2')}leaderName: move`, /no kind "LeaderMigrationConfiguration" is registered/],
  ['apiVersion: v1\nkind: ConfigMap', /no kind "ConfigMap"/],
  [`${head()}leaderNames: move`, /strict decoding error: unknown field "leaderNames"/],
  [
    `${head()}leaderName: move\ncontrollerLeaders: [{name: a, component: '*', extra: 1}]`,
    /unknown field "controllerLeaders\[0\].extra"/,
  ],
  [head(), /leaderName must be set/],
  [`${head()}leaderName: move\nresourceLock: endpoints`, /"endpoints"/],
  [`${head()}leaderName: move\ncontrollerLeaders: [{name: a}]`, /component must be set/],
  [
    `${head()}leaderName: a\nleaderName: b`,
    /strict decoding error: yaml: unmarshal errors:\n {2}line \d: key "leaderName" already set in map$/,
  ],
  ['a: [', /error reading leader migration config at \/etc\/migration.yaml/],
]

for (const [text, message] of refused) {
  test(`a migration file is refused: ${message.source}`, async () => {
    await assert.rejects(parse(text), { code: 'OPTIONS_INVALID', exitCode: 1, message })
  })
}

test('the same file moves a loop from one manager to the other, and back', () => {
  const moved = (component: string) => ({
    leaderName: 'm',
    resourceLock: 'leases',
    controllerLeaders: [{ name: 'cloud-node-lifecycle-controller', component }],
  })
  const lock = (component: string, at: string) =>
    lockOf(moved(component), 'cloud-node-lifecycle-controller', at)
  const CLOUD = 'cloud-controller-manager'
  for (const [runs, rests] of [
    [COMPONENT, CLOUD],
    [CLOUD, COMPONENT],
  ] as const) {
    assert.equal(lock(runs, runs), 'migration')
    assert.equal(lock(runs, rests), 'not-run-here')
    // While both may run it, the lock decides.
    assert.equal(lock('*', rests), 'migration')
  }
})
