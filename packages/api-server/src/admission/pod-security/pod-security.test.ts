import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeNamespace, PATCH, pod, startServer } from '../../bootstrap/fixtures.ts'
import type { Draft } from '../../registry/kind-rules.ts'
import { describeViolations, violationsOf } from './checks.ts'
import type { Level } from './checks.ts'

const LABEL = 'pod-security.kubernetes.io'

function judge(level: 'baseline' | 'restricted', spec: Draft): string {
  return describeViolations(
    violationsOf({ level, version: 'latest' }, {}, { containers: [{ name: 'a' }], ...spec }),
  )
}

describe('baseline', () => {
  for (const [spec, text] of [
    [{}, ''],
    [{ hostNetwork: true, hostPID: true }, 'host namespaces (hostNetwork=true, hostPID=true)'],
    [
      {
        containers: [
          { name: 'a', securityContext: { privileged: true } },
          { name: 'b', securityContext: { privileged: true } },
        ],
      },
      'privileged (containers "a", "b" must not set securityContext.privileged=true)',
    ],
    [
      {
        containers: [
          { name: 'a', securityContext: { capabilities: { add: ['NET_ADMIN', 'CHOWN'] } } },
        ],
      },
      'non-default capabilities (container "a" must not include "NET_ADMIN" in securityContext.capabilities.add)',
    ],
    [{ volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "v")'],
    [
      { containers: [{ name: 'a', ports: [{ hostPort: 80 }, { hostPort: 443 }] }] },
      'hostPort (container "a" uses hostPorts 443, 80)',
    ],
    [
      { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      {
        securityContext: {
          sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_syncookies' }],
        },
      },
      'forbidden sysctls (kernel.msgmax)',
    ],
  ] as const) {
    test(text || 'an ordinary pod passes', () =>
      assert.equal(judge('baseline', spec as Draft), text),
    )
  }
})

/** The verdicts that change, from version to version, as kube-apiserver 1.36.2 gives them. */
describe('versions', () => {
  const at = (level: Level, version: string, spec: Draft, annotations: Draft = {}): string =>
    describeViolations(
      violationsOf({ level, version }, { annotations }, { containers: [{ name: 'a' }], ...spec }),
    )
  const inContainer = (securityContext: Draft): Draft => ({
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'a',
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          ...securityContext,
        },
      },
    ],
  })
  const sysctl = (name: string): Draft => ({ securityContext: { sysctls: [{ name }] } })
  const probed = (handler: Draft): Draft => ({
    containers: [{ name: 'a', livenessProbe: handler }],
  })

  for (const [level, spec, before, since, told] of [
    ['baseline', inContainer({ procMount: 'Unmasked' }), 36, 36, /^procMount /],
    [
      'baseline',
      { hostUsers: false, ...inContainer({ procMount: 'Unmasked' }) },
      35,
      34,
      /^procMount /,
    ],
    [
      'baseline',
      { securityContext: { seLinuxOptions: { type: 'container_engine_t' } } },
      31,
      30,
      /^seLinuxOptions /,
    ],
    ['baseline', sysctl('net.ipv4.ip_local_reserved_ports'), 27, 26, /^forbidden sysctls /],
    ['baseline', sysctl('net.ipv4.tcp_fin_timeout'), 29, 28, /^forbidden sysctls /],
    ['baseline', sysctl('net.ipv4.tcp_wmem'), 32, 31, /^forbidden sysctls /],
    [
      'baseline',
      { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      18,
      19,
      /^seccompProfile /,
    ],
    [
      'baseline',
      probed({ tcpSocket: { host: '127.0.0.1' } }),
      33,
      34,
      /^probe or lifecycle host \(container "a" uses probe or lifecycle host "127.0.0.1"\)$/,
    ],
    ['restricted', inContainer({ runAsUser: 0 }), 22, 23, /^runAsUser=0 /],
    [
      'restricted',
      { hostUsers: false, ...inContainer({ runAsUser: 0, runAsNonRoot: false }) },
      35,
      34,
      /^runAsNonRoot != true .*, runAsUser=0 /,
    ],
    [
      'restricted',
      inContainer({ capabilities: { drop: ['ALL'], add: ['CHOWN'] } }),
      21,
      22,
      /^unrestricted capabilities /,
    ],
    [
      'restricted',
      inContainer({ allowPrivilegeEscalation: true }),
      7,
      8,
      /^allowPrivilegeEscalation /,
    ],
    [
      'restricted',
      { os: { name: 'windows' }, ...inContainer({ allowPrivilegeEscalation: true }) },
      25,
      24,
      /^allowPrivilegeEscalation /,
    ],
  ] as const) {
    const which = before === since ? 'always' : `in 1.${since} and not in 1.${before}`
    test(`${level} asks for it ${which}: ${JSON.stringify(spec)}`, () => {
      if (before !== since) assert.equal(at(level, `v1.${before}`, spec), '')
      assert.match(at(level, `v1.${since}`, spec), told)
    })
  }

  test('the first version asks little of who is restricted, the latest more than all others', () => {
    const reasons = (version: string): string =>
      at(
        'restricted',
        version,
        inContainer({ procMount: 'Unmasked', allowPrivilegeEscalation: true }),
      ).replaceAll(/ \([^)]*\)/g, '')
    assert.equal(reasons('v1.0'), 'procMount')
    assert.equal(reasons('v1.34'), 'procMount, allowPrivilegeEscalation != false')
    for (const version of ['v1.35', 'v1.99', 'latest'])
      assert.equal(reasons(version), 'allowPrivilegeEscalation != false, procMount')
  })

  test('profiles stood in annotations once', () => {
    const annotations = {
      'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/a': 'unconfined',
      'container.seccomp.security.alpha.kubernetes.io/b': 'unconfined',
    }
    assert.equal(
      at('baseline', 'v1.18', {}, annotations),
      'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="unconfined", seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    )
    assert.equal(at('baseline', 'v1.19', {}, annotations), '')
    const localhost = { 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/x' }
    assert.equal(at('baseline', 'v1.18', {}, localhost), '')
  })

  test('a profile of AppArmor in a field and one in an annotation are told together', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/a'
    assert.equal(
      at(
        'baseline',
        'latest',
        { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
        { [key]: 'unconfined' },
      ),
      `forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "${key}="unconfined"")`,
    )
  })
})

describe('restricted', () => {
  test('an ordinary pod says too little', () => {
    assert.equal(
      judge('restricted', {}),
      'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    )
  })

  test('a careful pod passes, with a host path it does not', () => {
    const spec = {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'a',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    }
    assert.equal(judge('restricted', spec), '')
    const text = 'restricted volume types (volume "v" uses restricted volume type "hostPath")'
    assert.equal(judge('restricted', { ...spec, volumes: [{ name: 'v', hostPath: {} }] }), text)
  })
})

describe('PodSecurity', () => {
  test('holds pods to the level of their namespace, and only warns of templates', async () => {
    const server = await startServer()
    const ns = await makeNamespace(server, 'a', {
      [`${LABEL}/enforce`]: 'baseline',
      [`${LABEL}/warn`]: 'restricted',
    })
    const spec = {
      hostNetwork: true,
      containers: [{ name: 'a', image: 'i', securityContext: { privileged: true } }],
    }
    const { status, body } = await server.call('POST', `${ns}/pods`, pod('p', spec))
    const why =
      'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true), privileged (container "a" must not set securityContext.privileged=true)'
    assert.deepEqual([status, body.message], [403, `pods "p" is forbidden: ${why}`])
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'a', image: 'i' }] },
    }
    const deployment = {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    }
    const warned = await server.call('POST', '/apis/apps/v1/namespaces/a/deployments', deployment)
    assert.equal(warned.status, 201)
    assert.match(
      String(warned.headers['warning']),
      /would violate PodSecurity \\"restricted:latest\\": allowPrivilegeEscalation/,
    )
    await server.server.stop()
  })

  test('what is enforced of pods is warned of in templates, unless the namespace says what is', async () => {
    const server = await startServer()
    const warnings: string[] = []
    for (const [name, labels] of [
      ['follows', { enforce: 'baseline', 'enforce-version': 'v1.20' }],
      ['other-version', { enforce: 'baseline', 'warn-version': 'v1.22' }],
      ['says', { enforce: 'baseline', warn: 'privileged' }],
    ] as const) {
      const prefixed = Object.entries(labels).map(([key, value]) => [`${LABEL}/${key}`, value])
      await makeNamespace(server, name, Object.fromEntries(prefixed) as Record<string, string>)
      const template = {
        metadata: { labels: { app: 'a' } },
        spec: { hostPID: true, containers: [{ name: 'a', image: 'i' }] },
      }
      const { headers } = await server.call(
        'POST',
        `/apis/apps/v1/namespaces/${name}/deployments`,
        {
          metadata: { name: 'd' },
          spec: { selector: { matchLabels: { app: 'a' } }, template },
        },
      )
      warnings.push(/baseline:[\w.]+/.exec(String(headers['warning']))?.[0] ?? '')
    }
    assert.deepEqual(warnings, ['baseline:v1.20', 'baseline:v1.22', ''])
    await server.server.stop()
  })

  test('a custom resource that is called like a workload is none, whatever its template looks like', async () => {
    const server = await startServer()
    await makeNamespace(server, 'a', { [`${LABEL}/warn`]: 'restricted' })
    const names = { plural: 'jobs', singular: 'job', kind: 'Job', listKind: 'JobList' }
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
    await server.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'jobs.x.example.com' },
      spec: { group: 'x.example.com', scope: 'Namespaced', names, versions },
    })
    await server.clock.advance(10_000)
    for (const containers of [[{ name: 'c' }], { web: {} }, 'nginx']) {
      const { status, headers } = await server.call(
        'POST',
        '/apis/x.example.com/v1/namespaces/a/jobs',
        {
          apiVersion: 'x.example.com/v1',
          kind: 'Job',
          metadata: { generateName: 'j-' },
          spec: { template: { spec: { containers } } },
        },
      )
      assert.deepEqual([status, headers['warning']], [201, undefined])
    }
    await server.server.stop()
  })

  test('bad labels of a namespace are 422; tightening one warns of its pods', async () => {
    const server = await startServer()
    const ns = await makeNamespace(server, 'a')
    const bad = await server.call(
      'PATCH',
      ns,
      { metadata: { labels: { [`${LABEL}/enforce`]: 'foo' } } },
      PATCH,
    )
    const field = `metadata.labels[${LABEL}/enforce]`
    assert.deepEqual(
      [bad.status, bad.body.message],
      [
        422,
        `Namespace "a" is invalid: ${field}: Invalid value: "foo": must be one of privileged, baseline, restricted`,
      ],
    )
    await server.call('POST', `${ns}/pods`, pod('p', { hostNetwork: true }))
    const { status, headers } = await server.call(
      'PATCH',
      ns,
      { metadata: { labels: { [`${LABEL}/enforce`]: 'baseline' } } },
      PATCH,
    )
    assert.equal(status, 200)
    assert.match(
      String(headers['warning']),
      /existing pods in namespace \\"a\\" violate the new PodSecurity enforce level \\"baseline:latest\\"/,
    )
    assert.match(String(headers['warning']), /p: host namespaces/)
    await server.server.stop()
  })

  test('another version of the same or of a lower level is told of existing pods too, and none of privileged', async () => {
    const server = await startServer()
    const ns = await makeNamespace(server, 'a')
    await server.call('POST', `${ns}/pods`, pod('p', { hostNetwork: true }))
    const warningOf = async (labels: Record<string, string>): Promise<string> => {
      const body = { metadata: { labels } }
      const { headers } = await server.call('PATCH', ns, body, PATCH)
      return String(headers['warning'] ?? '')
    }
    const [level, version] = [`${LABEL}/enforce`, `${LABEL}/enforce-version`]
    assert.match(await warningOf({ [level]: 'restricted' }), /level \\"restricted:latest\\"/)
    assert.match(await warningOf({ [version]: 'v1.20' }), /level \\"restricted:v1\.20\\"/)
    assert.equal(await warningOf({ [level]: 'baseline' }), '')
    assert.match(await warningOf({ [level]: 'baseline', [version]: 'v1.30' }), /"baseline:v1\.30/)
    assert.equal(await warningOf({ [level]: 'privileged', [version]: 'v1.31' }), '')
    await server.server.stop()
  })

  test('defaults hold where a namespace has no label of the mode', async () => {
    const server = await startServer({ podSecurity: { enforce: 'baseline', warn: 'restricted' } })
    const plain = await makeNamespace(server, 'a')
    const labelled = await makeNamespace(server, 'b', { [`${LABEL}/enforce`]: 'privileged' })
    const refused = await server.call('POST', `${plain}/pods`, pod('p', { hostNetwork: true }))
    assert.match(refused.body.message, /violates PodSecurity "baseline:latest": host namespaces/)
    const warned = await server.call('POST', `${labelled}/pods`, pod('p', { hostNetwork: true }))
    assert.equal(warned.status, 201)
    assert.match(String(warned.headers['warning']), /would violate PodSecurity/)
    await server.server.stop()
  })
})
