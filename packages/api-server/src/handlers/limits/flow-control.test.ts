import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import type { RequestAttributes } from '../../contracts.ts'
import { RevisionLog } from '../../storage/revision-log.ts'
import { FlowSchemas } from './flow-control.ts'

const SCHEMAS = 'flowschemas.flowcontrol.apiserver.k8s.io'
const LEVELS = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io'

const RESOURCES = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  namespaces: ['*'],
  clusterScope: true,
}
const URLS = { verbs: ['*'], nonResourceURLs: ['*'] }
const everyone = [{ kind: 'Group', group: { name: '*' } }]
const user = (name: string) => [{ kind: 'User', user: { name } }]

function flows() {
  const store = new RevisionLog(new VirtualClock({ settle: async () => {} }))
  const put = (collection: string, name: string, spec: object): void => {
    store.commit({ collection, key: name }, () => ({
      metadata: { name, uid: `uid-${name}` },
      spec,
    }))
  }
  put(LEVELS, 'low', {})
  const schemas = new FlowSchemas(store)
  return {
    schema(
      name: string,
      matchingPrecedence: number | undefined,
      rules: readonly object[],
      level = 'low',
    ) {
      put(SCHEMAS, name, { matchingPrecedence, rules, priorityLevelConfiguration: { name: level } })
    },
    of(
      given: Partial<RequestAttributes> & {
        readonly as?: string
        readonly groups?: readonly string[]
      } = {},
    ) {
      const { as = 'ann', groups = ['system:authenticated'], ...rest } = given
      return schemas.uidsOf({
        user: { name: as, groups, extra: {} },
        verb: 'get',
        group: '',
        version: 'v1',
        resource: 'pods',
        subresource: '',
        namespace: 'default',
        name: 'a',
        path: '/api/v1/namespaces/default/pods/a',
        isResourceRequest: true,
        ...rest,
      })?.flowSchema
    },
  }
}

test('the lowest precedence that matches wins, by name where precedences are equal', () => {
  const { schema, of } = flows()
  assert.equal(of(), undefined)
  schema('b', 50, [{ subjects: everyone, resourceRules: [RESOURCES] }])
  assert.equal(of(), 'uid-b')
  schema('a', 50, [{ subjects: everyone, resourceRules: [RESOURCES] }])
  assert.equal(of(), 'uid-a')
  schema('z', 7, [{ subjects: user('ann'), resourceRules: [RESOURCES] }])
  assert.equal(of(), 'uid-z')
  assert.equal(of({ as: 'bob' }), 'uid-a')
})

test('one without a precedence stands at 1000', () => {
  const { schema, of } = flows()
  schema('usual', undefined, [{ subjects: everyone, resourceRules: [RESOURCES] }])
  schema('later', 1001, [{ subjects: everyone, resourceRules: [RESOURCES] }])
  assert.equal(of(), 'uid-usual')
})

test('subjects: users, groups and service accounts, each by name or all of them', () => {
  const { schema, of } = flows()
  const resourceRules = [RESOURCES]
  const account = (name: string) => [
    { kind: 'ServiceAccount', serviceAccount: { namespace: 'jobs', name } },
  ]
  schema('bot', 1, [{ subjects: account('bot'), resourceRules }])
  schema('accounts', 2, [{ subjects: account('*'), resourceRules }])
  schema('admins', 3, [{ subjects: [{ kind: 'Group', group: { name: 'admins' } }], resourceRules }])
  schema('all', 4, [{ subjects: user('*'), resourceRules }])
  assert.equal(of({ as: 'system:serviceaccount:jobs:bot' }), 'uid-bot')
  assert.equal(of({ as: 'system:serviceaccount:jobs:other' }), 'uid-accounts')
  assert.equal(of({ as: 'system:serviceaccount:jobs2:bot' }), 'uid-all')
  assert.equal(of({ groups: ['admins'] }), 'uid-admins')
})

test('resources: verb, group, resource with its subresource, and the scope', () => {
  const rest = { subjects: everyone }
  const cases: readonly (readonly [
    rule: object,
    request: Partial<RequestAttributes>,
    matches: boolean,
  ])[] = [
    [{ verbs: ['list'] }, {}, false],
    [{ apiGroups: ['apps'] }, {}, false],
    [{ resources: ['pods'] }, {}, true],
    [{ resources: ['pods'] }, { subresource: 'status' }, false],
    [{ resources: ['pods/status'] }, { subresource: 'status' }, true],
    [{ namespaces: ['kube-system'] }, {}, false],
    [{ namespaces: ['default'] }, {}, true],
    [{ clusterScope: false }, { namespace: '' }, false],
    [{ clusterScope: true, namespaces: [] }, { namespace: '' }, true],
    [{ clusterScope: true, namespaces: [] }, {}, false],
  ]
  for (const [rule, request, matches] of cases) {
    const { schema, of } = flows()
    schema('one', 1, [{ ...rest, resourceRules: [{ ...RESOURCES, ...rule }] }])
    assert.equal(of(request), matches ? 'uid-one' : undefined, JSON.stringify([rule, request]))
  }
})

test('paths that are no resources have rules of their own', () => {
  const { schema, of } = flows()
  schema('probes', 1, [
    {
      subjects: everyone,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/livez/*'] }],
    },
  ])
  schema('rest', 2, [{ subjects: everyone, nonResourceRules: [URLS] }])
  const path = (each: string, verb = 'get') => of({ isResourceRequest: false, path: each, verb })
  assert.deepEqual(
    [path('/healthz'), path('/livez/ping'), path('/livez'), path('/healthz', 'post')],
    ['uid-probes', 'uid-probes', 'uid-rest', 'uid-rest'],
  )
})

test('a schema whose priority level is missing says nothing', () => {
  const { schema, of } = flows()
  schema('dangling', 1, [{ subjects: everyone, resourceRules: [RESOURCES] }], 'nosuch')
  assert.equal(of(), undefined)
})
