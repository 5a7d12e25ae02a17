import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VirtualClock } from '@gyropilot/foundation'
import type { RequestAttributes, UserInfo } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { createMemoryStore } from '../storage/memory-store.ts'
import { createAuthorizer } from './authorizer.ts'
import { describeRules, ruleAllows, uncoveredRules, urlMatches } from './rbac-rules.ts'
import type { PolicyRule } from './rbac-rules.ts'

const CORE = ['pods', 'secrets', 'persistentvolumes']
const jane: UserInfo = { name: 'jane', groups: ['devs'], extra: {} }

function asks(change: Partial<RequestAttributes> = {}): RequestAttributes {
  const resource = {
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'a',
    name: '',
  }
  return { user: jane, verb: 'get', path: '', isResourceRequest: true, ...resource, ...change }
}

const POD_READER: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }

describe('a rule', () => {
  for (const [title, rule, request, allowed] of [
    ['verb and resource', POD_READER, {}, true],
    ['another verb', POD_READER, { verb: 'delete' }, false],
    ['another group', POD_READER, { group: 'apps' }, false],
    ['a subresource is another resource', POD_READER, { subresource: 'log' }, false],
    [
      'a named subresource',
      { ...POD_READER, resources: ['pods/log'] },
      { subresource: 'log' },
      true,
    ],
    [
      '*/scale',
      { ...POD_READER, resources: ['*/scale'] },
      { subresource: 'scale', resource: 'deployments' },
      true,
    ],
    ['*/scale is not for the object', { ...POD_READER, resources: ['*/scale'] }, {}, false],
    [
      '* is for subresources too',
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { subresource: 'log', group: 'x' },
      true,
    ],
    ['a named object', { ...POD_READER, resourceNames: ['p'] }, { name: 'p' }, true],
    ['list never matches names', { ...POD_READER, resourceNames: ['p'] }, { verb: 'list' }, false],
    [
      'list pinned by metadata.name does',
      { ...POD_READER, resourceNames: ['p'] },
      { verb: 'list', name: 'p' },
      true,
    ],
    [
      'a path by prefix',
      { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
      { isResourceRequest: false, path: '/healthz/etcd' },
      true,
    ],
    [
      'a path beside it',
      { verbs: ['get'], nonResourceURLs: ['/healthz/*'] },
      { isResourceRequest: false, path: '/healthz' },
      false,
    ],
  ] as const satisfies readonly (readonly [
    string,
    PolicyRule,
    Partial<RequestAttributes>,
    boolean,
  ])[]) {
    test(title, () => assert.equal(ruleAllows(rule, asks(request)), allowed))
  }

  test('paths: exact, *, prefix', () => {
    assert.ok(
      urlMatches('*', '/x') &&
        urlMatches('/version', '/version') &&
        urlMatches('/api*', '/apis/apps'),
    )
    assert.ok(!urlMatches('/version', '/version/'))
  })

  test('is covered part by part, from several rules', () => {
    const held: PolicyRule[] = [
      POD_READER,
      { verbs: ['delete'], apiGroups: [''], resources: ['*'] },
    ]
    const wanted: PolicyRule = {
      verbs: ['get', 'delete', 'patch'],
      apiGroups: [''],
      resources: ['pods', 'secrets'],
    }
    assert.deepEqual(describeRules(uncoveredRules(held, [wanted])), [
      '{APIGroups:[""], Resources:["pods"], Verbs:["patch"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "patch"]}',
    ])
    const named = { ...POD_READER, resourceNames: ['p'] }
    assert.equal(
      uncoveredRules([named], [POD_READER]).length,
      2,
      'rights on one object are not rights on all',
    )
    assert.equal(uncoveredRules([POD_READER], [named]).length, 0)
  })
})

function cluster() {
  const clock = new VirtualClock({ settle: () => Promise.resolve() })
  const store = createMemoryStore(clock)
  const authorizer = createAuthorizer({ store })
  let uid = 0
  const put = (resource: string, object: Stored): void => {
    const { namespace, name } = object['metadata']
    const key = namespace === undefined ? name : `${namespace}/${name}`
    const full = { ...object, metadata: { uid: `u${uid++}`, ...object['metadata'] } }
    store.commit(
      {
        collection:
          resource.includes('.') || CORE.includes(resource)
            ? resource
            : `${resource}.rbac.authorization.k8s.io`,
        key,
      },
      () => full,
    )
  }
  const remove = (resource: string, key: string): void =>
    void store.commit({ collection: `${resource}.rbac.authorization.k8s.io`, key }, () => undefined)
  const bind = (name: string, role: [string, string], subject: Stored, namespace?: string): void =>
    put(namespace === undefined ? 'clusterrolebindings' : 'rolebindings', {
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid: `${name}-uid` },
      roleRef: { kind: role[0], name: role[1] },
      subjects: [subject],
    })
  const may = (change?: Partial<RequestAttributes>): boolean =>
    authorizer.authorize(asks(change)).allowed
  return { store, authorizer, put, remove, bind, may }
}

describe('RBAC', () => {
  test('system:masters may everything, others nothing without a binding', () => {
    const { may } = cluster()
    assert.ok(may({ user: { name: 'x', groups: ['system:masters'], extra: {} }, verb: 'anything' }))
    assert.ok(!may())
  })

  test('a role binding counts in its namespace, a cluster role binding everywhere', () => {
    const { put, bind, may } = cluster()
    put('roles', { metadata: { namespace: 'a', name: 'reader' }, rules: [POD_READER] })
    bind('b', ['Role', 'reader'], { kind: 'User', name: 'jane' }, 'a')
    assert.ok(may())
    assert.ok(!may({ namespace: 'b' }))
    put('clusterroles', {
      metadata: { name: 'everywhere' },
      rules: [{ ...POD_READER, verbs: ['watch'] }],
    })
    bind('c', ['ClusterRole', 'everywhere'], { kind: 'Group', name: 'devs' })
    assert.ok(may({ verb: 'watch', namespace: 'b' }) && may({ verb: 'watch', namespace: '' }))
  })

  test('what was bound is noticed, changed and taken away again', () => {
    const { put, bind, may, remove } = cluster()
    bind('b', ['Role', 'reader'], { kind: 'User', name: 'jane' }, 'a')
    assert.ok(!may())
    put('roles', { metadata: { namespace: 'a', name: 'reader' }, rules: [POD_READER] })
    assert.ok(may(), 'the role came after its binding')
    bind('b', ['Role', 'reader'], { kind: 'User', name: 'joe' }, 'a')
    assert.ok(!may())
    bind('b', ['Role', 'reader'], { kind: 'ServiceAccount', name: 'robot' }, 'a')
    const robot = { name: 'system:serviceaccount:a:robot', groups: [], extra: {} }
    assert.ok(may({ user: robot }), 'the namespace of the subject is that of the binding')
    remove('rolebindings', 'a/b')
    assert.ok(!may({ user: robot }))
  })

  test('says which binding allowed, or which role is missing', () => {
    const { authorizer, put, bind } = cluster()
    put('roles', { metadata: { namespace: 'spec-adm', name: 'adminish' }, rules: [POD_READER] })
    bind('adminish', ['Role', 'adminish'], { kind: 'User', name: 'jane' }, 'spec-adm')
    assert.equal(
      authorizer.authorize(asks({ namespace: 'spec-adm' })).reason,
      'RBAC: allowed by RoleBinding "adminish/spec-adm" of Role "adminish" to User "jane"',
    )
    bind('x', ['ClusterRole', 'gone'], { kind: 'Group', name: 'devs' })
    assert.deepEqual(authorizer.authorize(asks()), {
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
  })
})

describe('the node authorizer', () => {
  const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes'], extra: {} }

  test('secrets are for nodes with a pod that uses them', () => {
    const { put, may } = cluster()
    const secret = { user: node, resource: 'secrets', name: 's' }
    assert.ok(!may(secret))
    put('pods', {
      metadata: { namespace: 'a', name: 'p' },
      spec: { nodeName: 'n1', volumes: [{ name: 'v', secret: { secretName: 's' } }] },
    })
    assert.ok(may(secret))
    assert.ok(may({ ...secret, verb: 'watch' }), 'that one alone')
    assert.ok(!may({ ...secret, verb: 'list', name: '' }), 'not all of them')
    assert.ok(!may({ ...secret, user: { ...node, name: 'system:node:n2' } }))
    assert.ok(!may({ ...secret, user: { ...node, groups: [] } }), 'the name alone is no node')
  })

  const takes = (name: string, volume: Stored, annotations = {}): Stored => ({
    metadata: { namespace: 'a', name, annotations },
    spec: { nodeName: 'n1', volumes: [{ name: 'v', ...volume }] },
  })

  // As kube-apiserver 1.36.2 answered; `csi/x` is a secret x of namespace csi, the claim is in namespace a.
  for (const [source, mounting, others] of [
    [
      {
        csi: {
          nodeStageSecretRef: { namespace: 'csi', name: 'stage' },
          nodePublishSecretRef: { namespace: 'csi', name: 'publish' },
          nodeExpandSecretRef: { namespace: 'csi', name: 'expand' },
          controllerPublishSecretRef: { namespace: 'csi', name: 'attach' },
          controllerExpandSecretRef: { namespace: 'csi', name: 'resize' },
        },
      },
      ['csi/stage', 'csi/publish', 'csi/expand'],
      ['csi/attach', 'csi/resize', 'a/stage'],
    ],
    [{ azureFile: { secretName: 's' } }, ['a/s'], ['csi/s']],
    [{ azureFile: { secretName: 's', secretNamespace: 'csi' } }, ['csi/s'], ['a/s']],
    ...['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'].flatMap(
      (kind): [Stored, string[], string[]][] => [
        [{ [kind]: { secretRef: { name: 's' } } }, ['a/s'], ['csi/s']],
        [{ [kind]: { secretRef: { namespace: 'csi', name: 's' } } }, ['csi/s'], ['a/s']],
      ],
    ),
    [{ cinder: { secretRef: { namespace: 'csi', name: 's' } } }, ['csi/s'], ['a/s']],
    [{ storageos: { secretRef: { namespace: 'csi', name: 's' } } }, ['csi/s'], ['a/s']],
  ] as const)
    test(`secrets to mount ${JSON.stringify(source)} are for nodes with a pod of its claim`, () => {
      const { put, may } = cluster()
      const reads = (secret: string): boolean => {
        const [namespace, name] = secret.split('/') as [string, string]
        return may({ user: node, resource: 'secrets', namespace, name })
      }
      put('persistentvolumes', { metadata: { name: 'unclaimed' }, spec: source })
      put('pods', takes('p', { persistentVolumeClaim: { claimName: 'c' } }))
      assert.deepEqual([...mounting, ...others].filter(reads), [], 'bound to nothing')
      const claimRef = { namespace: 'a', name: 'c' }
      put('persistentvolumes', { metadata: { name: 'claimed' }, spec: { ...source, claimRef } })
      assert.deepEqual([...mounting, ...others].filter(reads), mounting)
      put('pods', takes('p', { persistentVolumeClaim: { claimName: 'other' } }))
      assert.deepEqual([...mounting, ...others].filter(reads), [], 'of another claim')
    })

  test('mirror pods are for their node to read, and open nothing else', () => {
    const { put, may } = cluster()
    const ref = { namespace: 'a', name: 's' }
    const claimRef = { namespace: 'a', name: 'c' }
    put('persistentvolumes', {
      metadata: { name: 'pv' },
      spec: { claimRef, csi: { nodeStageSecretRef: ref } },
    })
    const opened = (annotations: Stored): string[] => {
      put('pods', takes('m1', { persistentVolumeClaim: { claimName: 'c' } }, annotations))
      put('pods', takes('m2', { configMap: { name: 'cm' } }, annotations))
      const asked: [string, string][] = [
        ['persistentvolumeclaims', 'c'],
        ['persistentvolumes', 'pv'],
        ['secrets', 's'],
        ['configmaps', 'cm'],
        ['pods', 'm1'],
      ]
      return asked.flatMap(([resource, name]) =>
        may({ user: node, resource, name }) ? [resource] : [],
      )
    }
    assert.deepEqual(opened({ 'kubernetes.io/config.mirror': 'x' }), ['pods'])
    const all = ['persistentvolumeclaims', 'persistentvolumes', 'secrets', 'configmaps', 'pods']
    assert.deepEqual(opened({}), all)
  })

  test('resource claims are for nodes with a pod that names them or was given them', () => {
    const { put, may } = cluster()
    const spec = {
      nodeName: 'n1',
      resourceClaims: [
        { name: 'named', resourceClaimName: 'named' },
        { name: 'made', resourceClaimTemplateName: 't' },
      ],
    }
    const status = {
      resourceClaimStatuses: [{ name: 'made', resourceClaimName: 'made' }],
      extendedResourceClaimStatus: { resourceClaimName: 'extended' },
    }
    put('pods', { metadata: { namespace: 'a', name: 'p' }, spec, status })
    const claims = { user: node, group: 'resource.k8s.io', resource: 'resourceclaims' }
    for (const name of ['named', 'made', 'extended']) assert.ok(may({ ...claims, name }), name)
    assert.ok(!may({ ...claims, name: 'other' }))
  })

  test('its own node, lease and pods; no others', () => {
    const { put, may } = cluster()
    assert.ok(
      may({
        user: node,
        resource: 'nodes',
        name: 'n1',
        verb: 'patch',
        subresource: 'status',
        namespace: '',
      }),
    )
    assert.ok(!may({ user: node, resource: 'nodes', name: 'n2', verb: 'get', namespace: '' }))
    const lease = { user: node, group: 'coordination.k8s.io', resource: 'leases', verb: 'update' }
    assert.ok(may({ ...lease, namespace: 'kube-node-lease', name: 'n1' }))
    assert.ok(!may({ ...lease, namespace: 'a', name: 'n1' }))
    put('pods', { metadata: { namespace: 'a', name: 'p' }, spec: { nodeName: 'n2' } })
    const pod = { user: node, name: 'p', namespace: 'a' }
    for (const verb of ['get', 'list', 'watch']) {
      assert.ok(!may({ ...pod, verb }), verb)
      assert.ok(may({ ...pod, verb, user: { ...node, name: 'system:node:n2' } }), verb)
    }
    assert.ok(may({ ...pod, verb: 'delete' }), 'whose pod it is, admission asks (NodeRestriction)')
    assert.ok(may({ user: node, verb: 'list', fieldSelector: 'spec.nodeName=n1', namespace: '' }))
    assert.ok(!may({ user: node, verb: 'list', namespace: '' }))
  })
})
