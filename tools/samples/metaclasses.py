"""Groups of everyday classes, by the metaclasses with which ImageNet-X sorts those of ImageNet (Idrissi et al. 2022).

Experiments with whole groups ("birds") draw one of these classes for each picture. The rarer classes of each
metaclass are left out: a generator paints them badly, and people would not know them either.
"""

from __future__ import annotations

from typing import Final

METACLASSES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "birds": ("bird", ("rooster", "ostrich", "goldfinch", "robin", "jay", "magpie", "bald eagle", "great grey owl",
                       "peacock", "macaw", "hummingbird", "toucan", "black swan", "flamingo", "pelican",
                       "king penguin")),
    "dogs": ("dog", ("Chihuahua", "beagle", "Yorkshire terrier", "golden retriever", "Labrador retriever", "collie",
                     "Rottweiler", "German shepherd", "boxer", "Great Dane", "Siberian husky", "dalmatian", "pug",
                     "Samoyed", "corgi", "poodle")),
    "insects": ("insect", ("ladybug", "bee", "ant", "grasshopper", "cricket", "mantis", "cicada", "dragonfly",
                           "monarch butterfly", "housefly", "weevil", "dung beetle")),
    "primates": ("primate", ("orangutan", "gorilla", "chimpanzee", "gibbon", "baboon", "macaque", "marmoset",
                             "howler monkey", "squirrel monkey", "ring-tailed lemur")),
    "snakes": ("snake", ("garter snake", "green mamba", "Indian cobra", "boa constrictor", "rock python",
                         "king snake", "horned viper", "sidewinder", "diamondback rattlesnake", "vine snake")),
    "wheeled vehicles": ("wheeled vehicle", ("ambulance", "convertible", "fire engine", "garbage truck", "go-kart",
                                             "jeep", "limousine", "minibus", "motor scooter", "mountain bike",
                                             "police van", "school bus", "sports car", "tractor")),
    "vehicles": ("vehicle", ("airliner", "airship", "canoe", "container ship", "fireboat", "gondola", "lifeboat",
                             "speedboat", "steam locomotive", "submarine", "trimaran", "warplane")),
    "buildings": ("building", ("barn", "castle", "church", "cinema", "greenhouse", "library", "lighthouse",
                               "mosque", "palace", "skyscraper", "stupa", "triumphal arch")),
    "furniture": ("piece of furniture", ("bookcase", "china cabinet", "cradle", "desk", "dining table",
                                         "four-poster bed", "park bench", "rocking chair", "studio couch",
                                         "throne", "wardrobe")),
    "fruits": ("fruit", ("apple", "banana", "fig", "lemon", "orange", "pineapple", "pomegranate", "strawberry",
                         "jackfruit", "custard apple")),
    "food": ("food", ("bagel", "burrito", "cheeseburger", "espresso", "French loaf", "guacamole", "hot dog",
                      "ice cream", "meat loaf", "pizza", "pretzel", "trifle")),
    "clothing": ("piece of clothing", ("bow tie", "cardigan", "cowboy hat", "jean", "jersey", "kimono", "lab coat",
                                       "miniskirt", "poncho", "running shoe", "sock", "sombrero", "trench coat")),
    "devices": ("device", ("analog clock", "cassette player", "cellular telephone", "computer mouse",
                           "desktop computer", "hair dryer", "laptop", "loudspeaker", "microphone", "projector",
                           "remote control",
                           "sewing machine", "typewriter", "vacuum cleaner")),
    "household objects": ("household object", ("bath towel", "broom", "candle", "coffee mug", "frying pan", "lampshade",
                                               "pillow", "plate", "soap dispenser", "teapot", "vase", "wooden spoon")),
    "instruments": ("instrument", ("accordion", "acoustic guitar", "banjo", "cello", "drum", "flute", "grand piano",
                                   "harmonica", "harp", "saxophone", "trombone", "violin")),
    "plants": ("plant", ("daisy", "yellow lady's slipper", "rapeseed", "acorn", "corn", "rose hip", "coral fungus",
                         "cardoon", "artichoke", "broccoli", "cauliflower")),
    "natural objects": ("natural object", ("alp", "cliff", "coral reef", "geyser", "lakeside", "promontory", "sandbar",
                                           "seashore", "valley", "volcano")),
}  # fmt: skip
"""By name in the plural: the name in the singular, and the classes."""
