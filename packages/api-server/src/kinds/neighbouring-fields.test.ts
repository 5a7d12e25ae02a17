/** What one part of an object's rules does to, and tells of, the parts beside it. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createTestServer, type AnyValue, type TestServer } from '../testing/test-server.ts'

const NAMESPACE = '/api/v1/namespaces/default'
const PODS = `${NAMESPACE}/pods`
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const template = {
  metadata: { labels: { a: 'b' } },
  spec: { restartPolicy: 'Always', containers: [{ name: 'c', image: 'i' }] },
}

let running: TestServer
before(async () => {
  running = await createTestServer()
  await running.request('POST', `${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } })
})

const causes = ({ value }: { readonly value: AnyValue }): readonly string[] =>
  (value.details?.causes ?? []).map((one: AnyValue) => `${one.field}: ${one.message}`)

test('the status of a DaemonSet leaves the number of its template alone, that of a Namespace keeps its phase', async () => {
  const { request } = running
  const sets = '/apis/apps/v1/namespaces/default/daemonsets'
  const body = {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  }
  await request('POST', sets, body)
  const { value } = await request('PUT', `${sets}/d/status`, {
    ...body,
    status: { numberReady: 1 },
  })
  assert.equal(value.metadata.annotations['deprecated.daemonset.template.generation'], '1')
  const own = { metadata: { name: 'n' } }
  await request('POST', '/api/v1/namespaces', own)
  const answer = await request('PUT', '/api/v1/namespaces/n/status', own)
  assert.deepEqual([answer.status, answer.value.status.phase], [200, 'Active'])
})

test('a job that is suspended may change all of its template but most of the pod', async () => {
  const { request } = running
  const jobs = '/apis/batch/v1/namespaces/default/jobs'
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] }
  await request('POST', jobs, {
    metadata: { name: 'j' },
    spec: { suspend: true, template: { spec } },
  })
  const patch = (body: object): ReturnType<typeof request> =>
    request('PATCH', `${jobs}/j?dryRun=All`, { spec: body }, MERGE_PATCH)
  const free = await patch({
    template: { metadata: { finalizers: ['a.b/c'] }, spec: { nodeSelector: { a: 'b' } } },
  })
  assert.equal(free.status, 200)
  const refused = await patch({
    template: { spec: { hostname: 'h', nodeSelector: { a: 'b' } } },
    podFailurePolicy: {
      rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }],
    },
  })
  const [pod, policy] = causes(refused).filter((cause) => cause.endsWith('field is immutable'))
  assert.match(pod!, /^spec\.template\.spec: Invalid value: .*"NodeSelector":\{"a":"b"\}/)
  await request('PATCH', `${jobs}/j/status`, { status: { active: 1 } }, MERGE_PATCH)
  const active = await patch({ template: { spec: { nodeSelector: { a: 'b' } } } })
  assert.match(causes(active)[0]!, /^spec\.template: /)
  assert.match(policy!, /"OnExitCodes":\{"ContainerName":null,"Operator":"In","Values":\[1\]\}/)
})

test('a claim that gets a volume shows it in the difference for which it is refused', async () => {
  const { request } = running
  const claims = `${NAMESPACE}/persistentvolumeclaims`
  const claim = (storage: string, rest: object = {}): object => ({
    metadata: { name: 'c' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      resources: { requests: { storage } },
      ...rest,
    },
  })
  await request('POST', claims, claim('1Gi'))
  const refused = await request('PUT', `${claims}/c`, claim('2Gi', { volumeName: 'v' }))
  assert.match(causes(refused)[0]!, /\n {2}"VolumeName": "v",\n$/)
})

test('an empty list is a new generation of policies and webhooks each time, and nothing else to a pod', async () => {
  const { request } = running
  const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'
  const policy = { metadata: { name: 'p' }, spec: { podSelector: {}, ingress: [] } }
  await request('POST', policies, policy)
  const generations: unknown[] = []
  for (const body of [policy, policy, { ...policy, spec: { podSelector: {} } }])
    generations.push((await request('PUT', `${policies}/p`, body)).value.metadata.generation)
  assert.deepEqual(generations, [2, 3, 3])
  const hooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  await request('POST', hooks, { metadata: { name: 'h' } })
  for (const generation of [2, 3]) {
    const { value } = await request('PATCH', `${hooks}/h`, { webhooks: [] }, MERGE_PATCH)
    assert.equal(value.metadata.generation, generation)
  }
  await request('POST', PODS, {
    metadata: { name: 'gates' },
    spec: { ...template.spec, schedulingGates: [] },
  })
  for (const schedulingGates of [[], null]) {
    const patch = { spec: { hostname: 'h', schedulingGates } }
    const [why] = causes(await request('PATCH', `${PODS}/gates`, patch, MERGE_PATCH))
    assert.doesNotMatch(why!, /SchedulingGates/)
  }
})

test('a rule of the whole cluster has no namespaces, and says so', async () => {
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['x'], clusterScope: true }
  const { value } = await running.request(
    'POST',
    '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas?dryRun=All',
    {
      metadata: { name: 'f' },
      spec: {
        priorityLevelConfiguration: { name: 'x' },
        rules: [{ subjects: [{ kind: 'User', user: { name: 'n' } }], resourceRules: [rule] }],
      },
    },
  )
  assert.deepEqual(value.spec.rules[0].resourceRules, [{ ...rule, namespaces: null }])
})

test('what the status of a pod says of addresses, claims, users and devices', async () => {
  const { request } = running
  await request('POST', PODS, {
    metadata: { name: 'p' },
    spec: {
      restartPolicy: 'Never',
      resourceClaims: [{ name: 'x', resourceClaimName: 'y' }],
      initContainers: [{ name: 'i', image: 'i' }],
      containers: [
        {
          name: 'c',
          image: 'i',
          resources: { requests: { cpu: '1' }, claims: [{ name: 'x', request: 'r' }] },
        },
      ],
    },
  })
  const patch = (status: object): ReturnType<typeof request> =>
    request('PATCH', `${PODS}/p/status?dryRun=All`, { status }, MERGE_PATCH)
  const container = (rest: object, name = 'c'): object => ({
    name,
    image: 'i',
    imageID: '',
    ready: false,
    restartCount: 0,
    ...rest,
  })
  const { value } = await patch({ podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.2' }] })
  assert.deepEqual(value.status.podIPs, [{ ip: '1.1.1.1' }])
  assert.equal((await patch({ podIPs: [{ ip: '1.1.1.2' }] })).value.status.podIP, '1.1.1.2')
  const devices = (...allocatedResourcesStatus: object[]): object => ({
    containerStatuses: [container({ allocatedResourcesStatus })],
  })
  const at = 'status.containerStatuses[0]'
  const one = `${at}.allocatedResourcesStatus[0]`
  const extended = 'status.extendedResourceClaimStatus'
  const mapping = { containerName: 'c', resourceName: 'cpu', requestName: 'r' }
  for (const [status, errors] of [
    [
      { hostIPs: [{ ip: '1.1.1.1' }] },
      ['status.hostIPs[0].ip: Invalid value: "1.1.1.1": must be equal to `hostIP`'],
    ],
    [
      { hostIP: '1.1.1.1', hostIPs: [{ ip: '1.1.1.1' }, { ip: 'x' }] },
      [
        'status.hostIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'status.hostIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x',
        'status.hostIPs: Invalid value: [{"IP":"1.1.1.1"},{"IP":"x"}]: may specify no more than one IP for each IP family',
      ],
    ],
    [
      { resourceClaimStatuses: [{ name: 'x' }, { name: 'z' }, { name: 'x' }] },
      [
        'status.resourceClaimStatuses[1].name: Invalid value: "z": must match the name of an entry in `spec.resourceClaims`',
        'status.resourceClaimStatuses[2].name: Duplicate value: "x"',
      ],
    ],
    [
      { extendedResourceClaimStatus: {} },
      [
        `${extended}.requestMappings: Required value: at least one request mapping is required`,
        `${extended}.resourceClaimName: Required value`,
      ],
    ],
    [
      {
        extendedResourceClaimStatus: {
          resourceClaimName: 'a',
          requestMappings: [
            mapping,
            mapping,
            { ...mapping, containerName: 'z' },
            { ...mapping, resourceName: 'e.com/x' },
          ],
        },
      },
      [
        `${extended}.requestMappings[1].containerName: Duplicate value: "c"`,
        `${extended}.requestMappings[1].resourceName: Duplicate value: "cpu"`,
        `${extended}.requestMappings[1].requestName: Duplicate value: "r"`,
        `${extended}.requestMappings[2].containerName: Invalid value: "z": must match the name of an entry in spec.initContainers.name or spec.containers.name`,
        `${extended}.requestMappings[3].resourceName: Invalid value: "e.com/x": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests`,
      ],
    ],
    [
      {
        containerStatuses: [
          container({ user: { linux: { uid: -1, gid: 1, supplementalGroups: [1, -2] } } }),
        ],
      },
      [
        `${at}.user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive`,
        `${at}.user.linux.supplementalGroups[1]: Invalid value: -2: must be between 0 and 2147483647, inclusive`,
      ],
    ],
    [devices({ name: 'claim:x/r' }, { name: 'cpu' }), []],
    [
      devices({ name: 'memory' }),
      [`${one}.name: Invalid value: "memory": must match one of the container's resource requests`],
    ],
    [
      devices({ name: 'claim:x' }),
      [
        `${one}.name: Invalid value: "claim:x": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
      ],
    ],
    [
      devices({
        name: 'cpu',
        resources: [{ resourceID: 'a', health: 'Unknown' }, { resourceID: 'a' }],
      }),
      [
        `${one}.resources[1].health: Unsupported value: "": supported values: "Healthy", "Unhealthy", "Unknown"`,
        `${one}.resources[1].resourceID: Duplicate value: "a"`,
      ],
    ],
  ] as const)
    assert.deepEqual(causes(await patch(status)), errors, JSON.stringify(status))
  const ended = { state: { terminated: { exitCode: 0 } } }
  await request(
    'PATCH',
    `${PODS}/p/status`,
    { status: { initContainerStatuses: [container(ended, 'i')] } },
    MERGE_PATCH,
  )
  assert.deepEqual(causes(await patch({ initContainerStatuses: [container({}, 'i')] })), [
    'status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  ])
  const deleted = { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }
  const answer = await request('PATCH', `${PODS}/p/status`, deleted, MERGE_PATCH)
  assert.deepEqual([answer.status, answer.value.metadata.deletionTimestamp], [200, undefined])
})

test('what a resize is refused for is told of what was sent', async () => {
  const { request } = running
  await request('POST', PODS, {
    metadata: { name: 'r' },
    spec: { ...template.spec, resources: { requests: { cpu: '1' } } },
  })
  assert.deepEqual(causes(await request('PUT', `${PODS}/r/resize`, { metadata: { name: 'r' } })), [
    'spec.containers: Required value',
    'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
    'spec.resources: Forbidden: pod-level resources cannot be removed',
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ])
})

test('bindings are not judged below their metadata, and those of the collection need a name and bring no uid', async () => {
  const { request } = running
  await request('POST', PODS, { metadata: { name: 'b' }, spec: template.spec })
  const target = { name: 'n' }
  const bind = (path: string, metadata: object): ReturnType<typeof request> =>
    request('POST', `${NAMESPACE}/${path}?dryRun=All`, { metadata, target })
  assert.equal((await bind('pods/b/binding', { name: 'b', labels: { 'a b': 'c' } })).status, 201)
  assert.equal((await bind('bindings', { name: 'b', uid: 'other' })).status, 201)
  const nameless = await bind('bindings', {})
  assert.deepEqual([nameless.status, nameless.value.message], [400, 'Name parameter required.'])
})

test('an eviction whose options ask for a dry run spends nothing of the budget', async () => {
  const { request } = running
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
  const labels = { app: 'e' }
  await request('POST', PODS, { metadata: { name: 'e', labels }, spec: template.spec })
  await request('PATCH', `${PODS}/e/status`, { status: { phase: 'Running' } }, MERGE_PATCH)
  await request('POST', budgets, {
    metadata: { name: 'e' },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  })
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
  }
  await request('PATCH', `${budgets}/e/status`, { status }, MERGE_PATCH)
  const evicted = await request('POST', `${PODS}/e/eviction`, {
    metadata: { name: 'e' },
    deleteOptions: { dryRun: ['All'] },
  })
  assert.equal(evicted.status, 201)
  assert.equal((await request('GET', `${budgets}/e`)).value.status.disruptionsAllowed, 1)
})

test('ports to forward are read before the pod is looked for', async () => {
  for (const [ports, why] of [
    ['x', 'parsing "x": invalid syntax'],
    ['80,70000', 'parsing "70000": value out of range'],
  ]) {
    const { status, value } = await running.request(
      'GET',
      `${PODS}/none/portforward?ports=${ports}`,
    )
    assert.deepEqual(
      [status, value.message],
      [400, `cannot convert to []int32: strconv.ParseUint: ${why}`],
    )
  }
})

test('fields of an applier in another version come back in that of the request', async () => {
  const { request } = running
  const apply = (version: string, spec: object): ReturnType<typeof request> =>
    request(
      'PATCH',
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers/h?fieldManager=m`,
      {
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec,
      },
      { 'content-type': 'application/apply-patch+yaml' },
    )
  const scaleTargetRef = { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' }
  await apply('v1', { maxReplicas: 3, minReplicas: 2, scaleTargetRef })
  const { status, value } = await apply('v2', { maxReplicas: 5, scaleTargetRef })
  assert.deepEqual([status, value.spec.maxReplicas, value.spec.minReplicas], [200, 5, 1])
})

test('an empty list of audiences is owned by who asked for the token', async () => {
  const { request } = running
  for (const [audiences, owned] of [
    [[], { 'f:audiences': {}, 'f:expirationSeconds': {} }],
    [null, { 'f:expirationSeconds': {} }],
  ] as const) {
    const { value } = await request('POST', `${NAMESPACE}/serviceaccounts/default/token`, {
      spec: { audiences },
    })
    assert.deepEqual(value.metadata.managedFields[0].fieldsV1, { 'f:spec': owned })
  }
})

test('a definition: conversion without a strategy, paths of webhooks, rules that do not compile, status and metadata', async () => {
  const { request } = running
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const definition = (a: object, rest: object = {}): object => ({
    metadata: { name: 'ws.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'ws', kind: 'W' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a } } },
        },
      ],
      ...rest,
    },
  })
  const text = { type: 'string' }
  const ruled = (rule: string): object => ({
    ...text,
    'x-kubernetes-validations': [{ rule, optionalOldSelf: true }],
  })
  const at = 'spec.validation.openAPIV3Schema.properties[a]'
  const service = { name: 'x', namespace: 'y', path: 'z' }
  const conversion = {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } },
  }
  const unused = 'may not be set if oldSelf is not used in rule'
  for (const [body, last] of [
    [definition(text, { conversion: {} }), 'spec.conversion.strategy: Required value'],
    [
      definition(text, { conversion }),
      'spec.conversion.webhookClientConfig.service.path: Invalid value: "z": segment[0] may not be empty',
    ],
    [
      definition({ 'x-kubernetes-preserve-unknown-fields': false }),
      `${at}.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`,
    ],
    [
      definition(ruled('oldSelf +')),
      `${at}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: ${unused}`,
    ],
    [
      definition(ruled('1')),
      `${at}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: ${unused}`,
    ],
    [
      definition({
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-validations': [{ rule: 'true' }],
      }),
      `${at}.x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
    ],
  ] as const)
    assert.equal(causes(await request('POST', definitions, body)).at(-1), last)
  await request('POST', definitions, definition(text))
  const labels = { metadata: { labels: { q: 'r' } } }
  const path = `${definitions}/ws.example.com`
  const labelled = await request('PATCH', `${path}/status`, labels, MERGE_PATCH)
  assert.deepEqual(labelled.value.metadata.labels, { q: 'r' })
  const emptied = await request('PATCH', path, { spec: null }, MERGE_PATCH)
  assert.match(causes(emptied).at(-1)!, /^status\.storedVersions\[0\]: /)
})
