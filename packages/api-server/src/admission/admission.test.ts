import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '../registry/kind-rules.ts'

async function inNamespace(labels?: Record<string, string>): Promise<TestServer & { ns: string }> {
  const server = await startServer()
  return { ...server, ns: await makeNamespace(server, 'a', labels) }
}

function withResources(name: string, resources: Draft): Draft {
  return pod(name, { containers: [{ name: 'c', image: 'nginx:1.27', resources }] })
}

describe('NamespaceLifecycle', () => {
  test('nothing is created in a namespace that does not exist', async () => {
    const { server, call } = await inNamespace()
    const { status, body } = await call('POST', '/api/v1/namespaces/nope/configmaps', {
      metadata: { name: 'x' },
    })
    assert.deepEqual(
      [status, body.message, body.details],
      [404, 'namespaces "nope" not found', { name: 'nope', kind: 'namespaces' }],
    )
    await server.stop()
  })

  test('Given a terminating namespace, then create is 403 with cause NamespaceTerminating, update and delete work.', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/configmaps`, { metadata: { name: 'x' } })
    await call('DELETE', ns)
    const { status, body } = await call('POST', `${ns}/configmaps`, { metadata: { name: 'y' } })
    assert.equal(status, 403)
    const why = 'unable to create new content in namespace a because it is being terminated'
    assert.equal(body.message, `configmaps "y" is forbidden: ${why}`)
    const cause = {
      reason: 'NamespaceTerminating',
      message: 'namespace a is being terminated',
      field: 'metadata.namespace',
    }
    assert.deepEqual(body.details.causes, [cause])
    assert.equal(
      (await call('PATCH', `${ns}/configmaps/x`, { data: { a: 'b' } }, PATCH)).status,
      200,
    )
    assert.equal((await call('DELETE', `${ns}/configmaps/x`)).status, 200)
    await server.stop()
  })

  test('default, kube-system and kube-public cannot be deleted', async () => {
    const { server, call } = await inNamespace()
    const { status, body } = await call('DELETE', '/api/v1/namespaces/default')
    assert.deepEqual(
      [status, body.message],
      [403, 'namespaces "default" is forbidden: this namespace may not be deleted'],
    )
    await server.stop()
  })
})

describe('LimitRanger', () => {
  const range = (...limits: Draft[]): Draft => ({ metadata: { name: 'x' }, spec: { limits } })

  test('fills in what is missing and says so', async () => {
    const { server, call, ns } = await inNamespace()
    const item = {
      type: 'Container',
      default: { cpu: '500m', memory: '1Gi' },
      defaultRequest: { cpu: '100m' },
    }
    await call('POST', `${ns}/limitranges`, range(item))
    const { body } = await call(
      'POST',
      `${ns}/pods`,
      withResources('a', { requests: { memory: '1Gi' } }),
    )
    assert.deepEqual(body.spec.containers[0].resources.limits, { cpu: '500m', memory: '1Gi' })
    assert.equal(body.spec.containers[0].resources.requests.cpu, '100m')
    const note =
      'LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c'
    assert.equal(body.metadata.annotations['kubernetes.io/limit-ranger'], note)
    await server.stop()
  })

  for (const [title, item, resources, why] of [
    [
      'above the maximum',
      { type: 'Container', max: { cpu: '2' } },
      { limits: { cpu: '3' } },
      'maximum cpu usage per Container is 2, but limit is 3',
    ],
    [
      'nothing said',
      { type: 'Pod', min: { memory: '1Gi' } },
      {},
      'minimum memory usage per Pod is 1Gi.  No request is specified',
    ],
    [
      'too large a ratio',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { limits: { cpu: '3' }, requests: { cpu: '1' } },
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
    [
      'two violations',
      { type: 'Container', max: { cpu: '1', memory: '1Gi' } },
      { limits: { cpu: '2', memory: '2Gi' } },
      '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]',
    ],
  ] as const) {
    test(`refuses: ${title}`, async () => {
      const { server, call, ns } = await inNamespace()
      // Plain items, as an old client may have stored them: without the defaults the kind derives from `max`.
      const stored = {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { namespace: 'a', name: 'x' },
        spec: { limits: [item] },
      }
      server.store.commit({ collection: 'limitranges', key: 'a/x' }, () => stored)
      const { status, body } = await call('POST', `${ns}/pods`, withResources('b', resources))
      assert.deepEqual([status, body.message], [403, `pods "b" is forbidden: ${why}`])
      await server.stop()
    })
  }

  test('what is wrong with two containers alike is told once', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/limitranges`, range({ type: 'Container', max: { cpu: '1' } }))
    const resources = { limits: { cpu: '2' } }
    const containers = ['c', 'd'].map((name) => ({ name, image: 'nginx:1.27', resources }))
    const twice = pod('b', { containers })
    const { body } = await call('POST', `${ns}/pods`, twice)
    const why = 'maximum cpu usage per Container is 1, but limit is 2'
    assert.equal(body.message, `pods "b" is forbidden: ${why}`)
    await server.stop()
  })

  test('claims too', async () => {
    const { server, call, ns } = await inNamespace()
    await call(
      'POST',
      `${ns}/limitranges`,
      range({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }),
    )
    const claim = {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    }
    const { body } = await call('POST', `${ns}/persistentvolumeclaims`, claim)
    const why = 'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi'
    assert.equal(body.message, `persistentvolumeclaims "c" is forbidden: ${why}`)
    await server.stop()
  })

  test('any update of a claim, but not of its status, and of none that is terminating', async () => {
    const { server, call, ns } = await inNamespace()
    const [claims, path] = [`${ns}/persistentvolumeclaims`, `${ns}/persistentvolumeclaims/c`]
    await call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'growing' },
      provisioner: 'x.example.com/y',
      allowVolumeExpansion: true,
    })
    const asking = (storage: string) => ({ resources: { requests: { storage } } })
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'growing', volumeName: 'v' }
    await call('POST', claims, { metadata: { name: 'c' }, spec: { ...spec, ...asking('5Gi') } })
    await call('PATCH', `${path}/status`, { status: { phase: 'Bound' } }, PATCH)
    await call(
      'POST',
      `${ns}/limitranges`,
      range({ type: 'PersistentVolumeClaim', max: { storage: '10Gi' } }),
    )
    const patched = async (body: Draft, at = path): Promise<readonly [number, string?]> => {
      const answer = await call('PATCH', at, body, PATCH)
      return answer.status === 200 ? [200] : [answer.status, answer.body.message]
    }
    const refused = (size: string): readonly [number, string] => [
      403,
      `persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 10Gi, but request is ${size}`,
    ]
    assert.deepEqual(await patched({ spec: asking('20Gi') }), refused('20Gi'))
    assert.deepEqual(await patched({ spec: asking('8Gi') }), [200])
    const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '6Gi' } }]
    await call('PATCH', `${ns}/limitranges/x`, { spec: { limits } }, PATCH)
    const labels = { metadata: { labels: { a: 'b' } } }
    const over = refused('8Gi')[1].replace('10Gi', '6Gi')
    assert.deepEqual(await patched(labels), [403, over])
    const capacity = { storage: '5Gi' }
    assert.deepEqual(await patched({ status: { capacity } }, `${path}/status`), [200])
    await call('DELETE', path)
    assert.deepEqual(await patched(labels), [200])
    assert.deepEqual(await patched({ metadata: { finalizers: null } }), [200])
    await server.stop()
  })

  test('a resize, unless the pod is terminating', async () => {
    const { server, call, ns } = await inNamespace()
    const containers = [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }]
    const spec = { containers, nodeName: 'n' }
    await call('POST', `${ns}/pods`, pod('p', spec, { finalizers: ['a.b/c'] }))
    await call('POST', `${ns}/limitranges`, range({ type: 'Container', max: { cpu: '2' } }))
    const resized = async (): Promise<string> => {
      const change = {
        spec: { containers: [{ ...containers[0], resources: { limits: { cpu: '3' } } }] },
      }
      const { body } = await call('PATCH', `${ns}/pods/p/resize`, change, PATCH)
      return body.message
    }
    const why = 'maximum cpu usage per Container is 2, but limit is 3'
    assert.equal(await resized(), `pods "p" is forbidden: ${why}`)
    await call('DELETE', `${ns}/pods/p`)
    assert.equal(await resized(), 'pods "p" is forbidden: node "n" not found')
    await server.stop()
  })
})

describe('ServiceAccount', () => {
  const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

  test('Given a pod spec with serviceAccountName unset and account `default` present, then volume kube-api-access-xxxxx with three sources and a mount in each container.', async () => {
    const { server, call, ns } = await inNamespace()
    const containers = [
      { name: 'c', image: 'i' },
      { name: 'd', image: 'i' },
    ]
    const { body } = await call(
      'POST',
      `${ns}/pods`,
      pod('p', { containers, initContainers: [{ name: 'init', image: 'i' }] }),
    )
    const { serviceAccountName, serviceAccount, volumes } = body.spec
    assert.deepEqual([serviceAccountName, serviceAccount], ['default', 'default'])
    assert.match(volumes[0].name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    assert.equal(volumes[0].projected.sources.length, 3)
    assert.deepEqual(volumes[0].projected.sources[0], {
      serviceAccountToken: { expirationSeconds: 3607, path: 'token' },
    })
    for (const container of [...body.spec.containers, ...body.spec.initContainers]) {
      assert.deepEqual(container.volumeMounts, [
        { name: volumes[0].name, readOnly: true, mountPath: MOUNT },
      ])
    }
    await server.stop()
  })

  test('no volume when every container mounts something there, or automounting is off', async () => {
    const { server, call, ns } = await inNamespace()
    const own = { name: 'own', mountPath: MOUNT }
    const mounted = pod('p', {
      volumes: [{ name: 'own', emptyDir: {} }],
      containers: [{ name: 'c', image: 'i', volumeMounts: [own] }],
    })
    assert.equal((await call('POST', `${ns}/pods`, mounted)).body.spec.volumes.length, 1)
    const off = await call('POST', `${ns}/pods`, pod('q', { automountServiceAccountToken: false }))
    assert.equal(off.body.spec.volumes, undefined)
    await call('POST', `${ns}/serviceaccounts`, {
      metadata: { name: 's' },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'ips' }],
    })
    const account = await call('POST', `${ns}/pods`, pod('r', { serviceAccountName: 's' }))
    assert.equal(account.body.spec.volumes, undefined)
    assert.deepEqual(account.body.spec.imagePullSecrets, [{ name: 'ips' }])
    const asked = await call(
      'POST',
      `${ns}/pods`,
      pod('t', { serviceAccountName: 's', automountServiceAccountToken: true }),
    )
    assert.equal(asked.body.spec.volumes.length, 1)
    await server.stop()
  })

  test('Given no `default` account, then 403 error looking up service account.', async () => {
    const { server, call, clock } = await startServer()
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'b' } })
    const pending = call('POST', '/api/v1/namespaces/b/pods', pod('p'))
    await clock.advance(5_000)
    const { status, body } = await pending
    const why = 'error looking up service account b/default: serviceaccount "default" not found'
    assert.deepEqual([status, body.message], [403, `pods "p" is forbidden: ${why}`])
    const odd = await call(
      'POST',
      '/api/v1/namespaces/b/pods',
      pod('p', { serviceAccountName: 'a/b' }),
    )
    assert.ok(
      odd.body.message.endsWith(`b/a/b: invalid resource name "a/b": [may not contain '/']`),
    )
    await server.stop()
  })

  test('a pod in a fresh namespace waits a moment for the account', async () => {
    const { server, call, clock } = await startServer()
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'b' } })
    const pending = call('POST', '/api/v1/namespaces/b/pods', pod('p'))
    await clock.advance(50)
    await call('POST', '/api/v1/namespaces/b/serviceaccounts', { metadata: { name: 'default' } })
    await clock.advance(1_000)
    assert.equal((await pending).status, 201)
    await server.stop()
  })
})

describe('Priority', () => {
  test('the number comes from the class, or from the default class', async () => {
    const { server, call, ns } = await inNamespace()
    const none = await call('POST', `${ns}/pods`, pod('a'))
    assert.deepEqual(
      [none.body.spec.priority, none.body.spec.preemptionPolicy],
      [0, 'PreemptLowerPriority'],
    )
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
    await call('POST', classes, {
      metadata: { name: 'usual' },
      value: 42,
      globalDefault: true,
      preemptionPolicy: 'Never',
    })
    const usual = await call('POST', `${ns}/pods`, pod('b'))
    assert.deepEqual(
      [
        usual.body.spec.priority,
        usual.body.spec.preemptionPolicy,
        usual.body.spec.priorityClassName,
      ],
      [42, 'Never', 'usual'],
    )
    const second = await call('POST', classes, {
      metadata: { name: 'second' },
      value: 1,
      globalDefault: true,
    })
    const why = 'PriorityClass usual is already marked as default. Only one default can exist'
    assert.deepEqual(
      [second.status, second.body.message],
      [403, `priorityclasses.scheduling.k8s.io "second" is forbidden: ${why}`],
    )
    const again = { metadata: { name: 'usual' }, value: 42, globalDefault: true }
    const twice = await call('POST', classes, again)
    assert.deepEqual(
      [twice.status, twice.body.message],
      [403, `priorityclasses.scheduling.k8s.io "usual" is forbidden: ${why}`],
    )
    const labels = { own: 'x' }
    const changed = await call('PATCH', `${classes}/usual`, { metadata: { labels } }, PATCH)
    assert.equal(changed.status, 200)
    await server.stop()
  })

  for (const [spec, why] of [
    [{ priorityClassName: 'nope' }, 'no PriorityClass with name nope was found'],
    [
      { priority: 5 },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
  ] as const) {
    test(`refuses: ${why}`, async () => {
      const { server, call, ns } = await inNamespace()
      const { status, body } = await call('POST', `${ns}/pods`, pod('a', spec))
      assert.deepEqual([status, body.message], [403, `pods "a" is forbidden: ${why}`])
      await server.stop()
    })
  }
})

describe('defaults of nodes, pods and storage', () => {
  test('a new node is tainted, a pod tolerates a lost node for 300 s unless it says otherwise', async () => {
    const { server, call, ns } = await inNamespace()
    const node = await call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
    assert.deepEqual(node.body.spec.taints, [
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ])
    const { body } = await call(
      'POST',
      `${ns}/pods`,
      pod('a', { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] }),
    )
    assert.deepEqual(body.spec.tolerations[1], {
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })
    assert.equal(body.spec.tolerations.length, 2)
    const all = await call(
      'POST',
      `${ns}/pods`,
      pod('b', { tolerations: [{ operator: 'Exists' }] }),
    )
    assert.equal(all.body.spec.tolerations.length, 1)
    await server.stop()
  })

  test('claims get the newest default class and a finalizer', async () => {
    const { server, call, clock, ns } = await inNamespace()
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    for (const name of ['old', 'new']) {
      await call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
        metadata: { name, annotations },
        provisioner: 'p',
      })
      await clock.advance(1_000)
    }
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const { body } = await call('POST', `${ns}/persistentvolumeclaims`, {
      metadata: { name: 'c' },
      spec,
    })
    assert.equal(body.spec.storageClassName, 'new')
    assert.deepEqual(body.metadata.finalizers, ['kubernetes.io/pvc-protection'])
    const explicit = await call('POST', `${ns}/persistentvolumeclaims`, {
      metadata: { name: 'd' },
      spec: { ...spec, storageClassName: '' },
    })
    assert.equal(explicit.body.spec.storageClassName, '')
    await server.stop()
  })

  test('an ingress gets the default class unless it names one', async () => {
    const { server, call } = await inNamespace()
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
    await call('POST', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: 'web', annotations },
      spec: { controller: 'example.com/c' },
    })
    const spec = { defaultBackend: { service: { name: 's', port: { number: 80 } } } }
    const path = '/apis/networking.k8s.io/v1/namespaces/a/ingresses'
    assert.equal(
      (await call('POST', path, { metadata: { name: 'i' }, spec })).body.spec.ingressClassName,
      'web',
    )
    const named = await call('POST', path, {
      metadata: { name: 'j' },
      spec: { ...spec, ingressClassName: 'own' },
    })
    assert.equal(named.body.spec.ingressClassName, 'own')
    await server.stop()
  })

  test('a runtime class brings overhead, selector and tolerations; a missing one is refused', async () => {
    const { server, call, ns } = await inNamespace()
    const scheduling = {
      nodeSelector: { vm: 'yes' },
      tolerations: [{ key: 'vm', operator: 'Exists' }],
    }
    const runtime = {
      metadata: { name: 'vm' },
      handler: 'vm',
      overhead: { podFixed: { cpu: '100m' } },
      scheduling,
    }
    await call('POST', '/apis/node.k8s.io/v1/runtimeclasses', runtime)
    const { body } = await call('POST', `${ns}/pods`, pod('a', { runtimeClassName: 'vm' }))
    assert.deepEqual([body.spec.overhead, body.spec.nodeSelector], [{ cpu: '100m' }, { vm: 'yes' }])
    assert.ok(body.spec.tolerations.some(({ key }: Draft) => key === 'vm'))
    const missing = await call('POST', `${ns}/pods`, pod('b', { runtimeClassName: 'nope' }))
    assert.equal(
      missing.body.message,
      'pods "b" is forbidden: pod rejected: RuntimeClass "nope" not found',
    )
    const clash = await call(
      'POST',
      `${ns}/pods`,
      pod('c', { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } }),
    )
    const why =
      'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no'
    assert.equal(clash.body.message, `pods "c" is forbidden: ${why}`)
    await server.stop()
  })

  test('an overhead that no runtime class brings is refused, be it empty', async () => {
    const { server, call, ns } = await inNamespace()
    const made = async (overhead: object, runtimeClassName?: string): Promise<unknown> => {
      const spec = runtimeClassName === undefined ? { overhead } : { overhead, runtimeClassName }
      const { body } = await call('POST', `${ns}/pods?dryRun=All`, pod('p', spec))
      return body.spec?.overhead ?? body.message
    }
    const classes = '/apis/node.k8s.io/v1/runtimeclasses'
    const own = { metadata: { name: 'own' }, handler: 'h', overhead: { podFixed: { cpu: '1' } } }
    await call('POST', classes, own)
    await call('POST', classes, { metadata: { name: 'hollow' }, handler: 'h', overhead: {} })
    const refused = 'pods "p" is forbidden: pod rejected: '
    const without = `${refused}Pod Overhead set without corresponding RuntimeClass defined Overhead`
    const other = `${refused}Pod's Overhead doesn't match RuntimeClass's defined Overhead`
    assert.equal(await made({}), without)
    assert.equal(await made({ cpu: '1' }), without)
    assert.deepEqual(await made({}, 'own'), { cpu: '1' })
    assert.equal(await made({ cpu: '2' }, 'own'), other)
    assert.equal(await made({}, 'hollow'), undefined)
    assert.equal(await made({ cpu: '1' }, 'hollow'), other)
    await server.stop()
  })
})

describe('escalation', () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles'
  const bindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings'
  const roleRef = (name: string): Draft => ({
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Role',
    name,
  })
  const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }

  async function janeMay(...rules: Draft[]): Promise<TestServer> {
    const server = await inNamespace()
    const own = {
      verbs: ['create', 'update', 'patch', 'get'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'rolebindings'],
    }
    await server.call('POST', roles, { metadata: { name: 'own' }, rules: [own, ...rules] })
    await server.call('POST', bindings, {
      metadata: { name: 'own' },
      roleRef: roleRef('own'),
      subjects: [subject],
    })
    return server
  }

  const podReader = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }

  test('Given jane with pods get/list, when she creates a Role with pods delete, then 403 listing exactly the missing rule.', async () => {
    const { server, as } = await janeMay(podReader)
    const rules = [
      { ...podReader, verbs: ['get', 'delete'] },
      { ...podReader, verbs: ['get', 'delete'], resources: ['secrets'] },
    ]
    const { status, body } = await as('jane', 'POST', roles, { metadata: { name: 'esc' }, rules })
    assert.equal(status, 403)
    assert.equal(
      body.message,
      'roles.rbac.authorization.k8s.io "esc" is forbidden: user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
    )
    await server.stop()
  })

  test('Given jane binding a Role she fully holds, then 201.', async () => {
    const { server, as, call } = await janeMay(podReader)
    assert.equal(
      (await as('jane', 'POST', roles, { metadata: { name: 'r' }, rules: [podReader] })).status,
      201,
    )
    const held = await as('jane', 'POST', bindings, {
      metadata: { name: 'b' },
      roleRef: roleRef('r'),
      subjects: [subject],
    })
    assert.equal(held.status, 201)
    await call('POST', roles, {
      metadata: { name: 'strong' },
      rules: [{ ...podReader, verbs: ['*'] }],
    })
    const strong = await as('jane', 'POST', bindings, {
      metadata: { name: 'c' },
      roleRef: roleRef('strong'),
      subjects: [subject],
    })
    assert.equal(strong.status, 403)
    const missing = await as('jane', 'POST', bindings, {
      metadata: { name: 'd' },
      roleRef: roleRef('nope'),
      subjects: [subject],
    })
    assert.deepEqual(
      [missing.status, missing.body.message],
      [404, 'rolebindings.rbac.authorization.k8s.io "nope" not found'],
    )
    await server.stop()
  })

  test('the verbs escalate and bind lift the check', async () => {
    const group = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] }
    const { server, as } = await janeMay({ ...group, verbs: ['escalate', 'bind'] })
    const rules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
    assert.equal(
      (await as('jane', 'POST', roles, { metadata: { name: 'all' }, rules })).status,
      201,
    )
    const bound = await as('jane', 'POST', bindings, {
      metadata: { name: 'all' },
      roleRef: roleRef('all'),
      subjects: [subject],
    })
    assert.equal(bound.status, 201)
    await server.stop()
  })
})
