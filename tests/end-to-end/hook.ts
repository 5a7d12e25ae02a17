/** A webhook at https://hook.default.svc: the Service that leads to pods labelled `app: hook`, its certificates, its registration. */
import { createClusterCertificates } from '@gyropilot/api-server'
import { SystemClock, SystemRandom } from '@gyropilot/foundation'

export const certificatesOfHook = () =>
  createClusterCertificates({
    clock: new SystemClock(),
    random: new SystemRandom(),
    serverNames: ['hook.default.svc'],
  })

export const encoded = (text: string): string => Buffer.from(text).toString('base64')

export const hookService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'hook' },
  spec: { selector: { app: 'hook' }, ports: [{ port: 443, targetPort: 9443 }] },
}

/** It is asked at that path about ConfigMaps that are made in namespace `default`. */
export function hookRegistration(
  kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration',
  path: string,
  authorityPem: string,
): object {
  const rule = {
    apiGroups: [''],
    apiVersions: ['v1'],
    resources: ['configmaps'],
    operations: ['CREATE'],
  }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: 'hook' },
    webhooks: [
      {
        name: 'hook.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: {
          caBundle: encoded(authorityPem),
          service: { namespace: 'default', name: 'hook', path },
        },
        rules: [rule],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      },
    ],
  }
}
