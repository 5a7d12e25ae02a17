import type { AdmissionPlugin } from '../contracts.ts'
import { isFor, newestFirst, readAll } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const GROUP = 'networking.k8s.io'

export function defaultIngressClass(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    handles: (request) => request.operation === 'CREATE' && isFor(request, GROUP, 'ingresses'),
    mutate({ object }) {
      const spec = (object!['spec'] ??= {})
      if (spec.ingressClassName !== undefined) return
      if (object!['metadata'].annotations?.['kubernetes.io/ingress.class'] !== undefined) return
      const classes = readAll(world, `ingressclasses.${GROUP}`).filter(
        (entry) =>
          entry['metadata'].annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true',
      )
      const [chosen] = newestFirst(classes)
      if (chosen !== undefined) spec.ingressClassName = chosen['metadata'].name
    },
  }
}
