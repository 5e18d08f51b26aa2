// Chapter 12: carry an arrow around a triangle on a sphere, never turning it. By how much is it turned at the end?
(() => {
  const { maths: { sum, range, dot, cross, along, unit } } = globalThis.Explore;
  const RADIANS = Math.PI / 180;

  // The point so many degrees away from the pole, in a direction. A triangle has one corner at the pole, the others
  // `first` and `second` degrees away, in directions that differ by `between`.
  const spot = (away, way) => {
    const [a, w] = [away * RADIANS, way * RADIANS];
    return [Math.sin(a) * Math.cos(w), Math.sin(a) * Math.sin(w), Math.cos(a)];
  };
  const corners = (first, second, between) => [spot(0, 0), spot(first, 0), spot(second, between)];

  // The angle at b of the way from a by b to c, in radians.
  const angleAt = (a, b, c) => {
    const [one, other] = [a, c].map(point => unit(along(point, -dot(point, b), b)));
    return Math.acos(Math.max(-1, Math.min(1, dot(one, other))));
  };
  // The area of a triangle on the unit sphere: what its angles have more than π (Girard).
  const area = ([a, b, c]) => angleAt(c, a, b) + angleAt(a, b, c) + angleAt(b, c, a) - Math.PI;

  // The point at a share of the way from a to b, on the shortest way.
  const between = (a, b, share) => {
    const angle = Math.acos(Math.max(-1, Math.min(1, dot(a, b)))), side = unit(along(b, -dot(a, b), a));
    return along(a.map(value => value * Math.cos(share * angle)), Math.sin(share * angle), side);
  };
  // The round trip in equal steps; `steps` of each side.
  const trip = (triangle, steps = 60) => [
    ...range(3 * steps, n => between(triangle[Math.floor(n / steps)], triangle[(Math.floor(n / steps) + 1) % 3], n % steps / steps)),
    triangle[0],
  ];

  // The arrow at each point of a way. From one point to the next it is turned as little as possible: by the rotation
  // that takes the one point to the other. It knows nothing of areas.
  const carried = (way, arrow) => {
    const found = [arrow];
    for (let n = 1; n < way.length; n += 1) {
      const [from, to] = [way[n - 1], way[n]], axis = cross(from, to), last = found[n - 1];
      const inner = dot(from, to), turned = cross(axis, last);
      const next = along(last.map((value, j) => inner * value + turned[j]), dot(axis, last) / (1 + inner), axis);
      found.push(unit(along(next, -dot(next, to), to)));
    }
    return found;
  };
  // By how much the arrow is turned when it is back, seen from outside, in radians.
  const turn = (way, arrows) => {
    const [before, after] = [arrows[0], arrows.at(-1)], angle = Math.atan2(dot(cross(before, after), way[0]), dot(before, after));
    return angle < -1e-9 ? angle + 2 * Math.PI : Math.abs(angle);
  };

  globalThis.Explore.sphere = { corners, area, trip, carried, turn };
  globalThis.Explore.define('sphere', place => {
    const { Panel, shape, set, still } = globalThis.Explore;
    const degrees = value => `${value}°`;
    const panel = new Panel(place, 'Walk a triangle on a sphere', draw);
    const first = panel.range('First side', { min: 10, max: 120, step: 5, value: 90, format: degrees });
    const second = panel.range('Third side', { min: 10, max: 120, step: 5, value: 90, format: degrees });
    const corner = panel.range('Angle between', { min: 10, max: 150, step: 5, value: 90, format: degrees });
    const walked = panel.range('Walked', { min: 0, max: 180, value: 90, format: value => `${Math.round(value / 1.8)} %` });
    let walking;
    panel.button('Walk', () => {
      cancelAnimationFrame(walking);
      if (still()) { walked.value = 180; return; }
      walked.value = 0;
      const step = () => {
        walked.value += 1;
        panel.change();
        if (walked.value < 180) walking = requestAnimationFrame(step);
      };
      walking = requestAnimationFrame(step);
    });
    const scene = panel.picture('The triangle on the sphere, and the arrow along the way; dashed: as it set out.', 100, 100);
    const [disc, lines] = [shape('circle', { cx: 50, cy: 50, r: 42, class: 'disc' }), shape('path', { class: 'grid' })];
    const inside = shape('path', { class: 'band' }), border = shape('path', { class: 'line' });
    const behind = shape('path', { class: 'line behind' });
    const trail = shape('path', { class: 'way faint' }), started = shape('path', { class: 'way dashed' }), now = shape('path', { class: 'way' });
    scene.svg.append(disc, lines, inside, behind, border, trail, started, now);

    // Seen from a direction in front of the triangle, halfway between its sides and 35° below the pole.
    const view = () => {
      const side = corner.value / 2 * RADIANS, tilt = 50 * RADIANS;
      const ahead = [Math.sin(tilt) * Math.cos(side), Math.sin(tilt) * Math.sin(side), Math.cos(tilt)];
      const right = [-Math.sin(side), Math.cos(side), 0], up = cross(ahead, right);
      return { show: point => [50 + 42 * dot(point, right), 50 - 42 * dot(point, up)], front: point => dot(point, ahead) >= 0 };
    };
    const stroke = (points, { show, front }, wanted) => points.map((point, n) => {
      if (front(point) !== wanted) return '';
      return `${n && front(points[n - 1]) === wanted ? 'L' : 'M'}${show(point)}`;
    }).join('');
    const arrow = (point, direction, seen) => {
      const long = Math.min(.28, .012 * Math.min(first.value, second.value));  // short beside short sides
      const tip = along(point, long, direction), side = cross(point, direction);
      const barbs = [1, -1].map(way => along(along(tip, -.3 * long, direction), .18 * long * way, side));
      return `M${seen.show(point)}L${seen.show(tip)}M${seen.show(barbs[0])}L${seen.show(tip)}L${seen.show(barbs[1])}`;
    };

    function draw() {
      const triangle = corners(first.value, second.value, corner.value), way = trip(triangle), seen = view();
      const arrows = carried(way, [1, 0, 0]), at = walked.value;
      const circles = [30, 60, 90, 120].map(away => range(73, n => spot(away, 5 * n)));
      lines.setAttribute('d', circles.map(circle => stroke(circle, seen, true)).join(''));
      inside.setAttribute('d', way.every(seen.front) ? `M${way.map(seen.show).join('L')}z` : '');
      set(border, { d: stroke(way, seen, true) });
      set(behind, { d: stroke(way, seen, false) });
      trail.setAttribute('d', range(Math.floor(at / 15) + 1, n => arrow(way[15 * n], arrows[15 * n], seen)).join(''));
      started.setAttribute('d', arrow(way[0], arrows[0], seen));
      now.setAttribute('d', arrow(way[at], arrows[at], seen));
      const size = area(triangle), angle = turn(way, arrows), angles = [corner.value, ...[[0, 1, 2], [1, 2, 0]].map(
        ([a, b, c]) => angleAt(triangle[a], triangle[b], triangle[c]) / RADIANS)];
      return `The angles of the triangle are ${angles.map(value => `${value.toFixed(1)}°`).join(', ')}: together `
        + `${sum(angles).toFixed(1)}°. Its area is ${size.toFixed(3)}, which as an angle is ${(size / RADIANS).toFixed(1)}°. `
        + (at === 180 ? `Back at the pole the arrow is turned by ${(angle / RADIANS).toFixed(1)}°.`
          : `The arrow has gone ${Math.round(at / 1.8)} per cent of the way.`);
    }
    return panel;
  });
})();
