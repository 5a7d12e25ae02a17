import { liveWorld } from './live-world.ts'
const world = await liveWorld()
console.log('world')
world.start()
let n=0
for (let i=0;i<10;i++){ await world.clock.advance(10); console.log(i, world.requests.length, [...world.collector().graph.nodes()].length) }
console.log(world.requests)
await world.stop()
console.log('stopped')
